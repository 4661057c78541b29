"""A text that is written for all who wait for it: a part of it is the shorter answer."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from threading import Semaphore
from typing import Any

import pytest

from transformer import InputError
from viz.run import request as requests
from viz.run import work as works
from viz.run.cache import CACHE, forget
from viz.run.line import Runner
from viz.run.request import Answer, Request, answer, make_answer, make_request, part_of, with_length
from viz.run.work import at_hand, follow


class Alone(Runner):
    """Takes no turns."""

    def run(self, model: object) -> Any:
        return None

    def turn(self, model: object) -> AbstractContextManager[None]:
        return nullcontext()


class Tokens:
    """A model writes as many as are let through."""

    def __init__(self) -> None:
        self.n_let, self.written = Semaphore(0), Semaphore(0)

    def let(self, n: int) -> None:
        self.n_let.release(n)
        for _ in range(n):
            assert self.written.acquire(timeout=60)

    def make(self, request: Request, runner: Runner) -> Answer:
        def tell(so_far: object) -> None:
            assert self.n_let.acquire(timeout=60)
            try:
                assert runner.hear is not None
                runner.hear(so_far)
            finally:
                self.written.release()

        return make_answer(request, runner=Alone(hear=tell))  # it holds nobody else up


@pytest.fixture
def tokens(monkeypatch: pytest.MonkeyPatch) -> Iterator[Tokens]:
    forget()
    CACHE.clear()
    tokens = Tokens()
    monkeypatch.setattr(requests, "make_answer", tokens.make)
    yield tokens
    tokens.n_let.release(1000)  # whatever still writes ends


def asked(text: str = "JULIET: Good night", length: int = 6) -> Request:
    return make_request("shakespeare", text, "sample", (("max_len", length), ("seed", 3)))


def test_a_part_is_the_answer_to_a_shorter_request(tokens: Tokens) -> None:
    reader = follow(asked())
    tokens.let(2)
    part, shorter = part_of(reader.work), answer(with_length(asked(), 2))
    assert part.request == shorter.request
    assert part.decoding is not None and shorter.decoding is not None
    assert part.decoding.text == shorter.decoding.text
    ours, theirs = (
        each.recording.attentions["decoder_self"].weights(0) for each in (part, shorter)
    )
    assert ours.equal(theirs)
    assert ours.size(-1) == len("JULIET: Good night") + 1
    tokens.n_let.release(4)
    assert reader.work.ended.wait(60)
    assert reader.work.result() is answer(asked()) is at_hand(asked())
    assert follow(asked()).work.ended.is_set()


def test_all_who_ask_for_it_wait_for_the_same_text(tokens: Tokens) -> None:
    first, second = follow(asked()), follow(asked())
    other = follow(asked("ROMEO: O"))
    assert first.work is second.work is not other.work
    first.stop()
    tokens.n_let.release(12)
    assert first.work.ended.wait(60)
    assert at_hand(asked()) is not None  # the second still wanted it


def test_it_ends_with_the_next_token_once_nobody_waits(tokens: Tokens) -> None:
    reader = follow(asked(length=50))
    tokens.let(2)
    reader.stop()
    tokens.let(1)
    assert reader.work.ended.wait(60)
    assert at_hand(asked(length=50)) is None
    again = follow(asked(length=50))
    assert again.work is not reader.work
    again.stop()


def test_it_ends_when_the_browser_asks_no_more(
    tokens: Tokens, monkeypatch: pytest.MonkeyPatch
) -> None:
    reader = follow(asked(length=40))
    monkeypatch.setattr(works, "GONE", 1e6)
    tokens.let(3)
    assert not reader.work.ended.is_set()
    monkeypatch.setattr(works, "GONE", 0.0)
    tokens.let(1)
    assert reader.work.ended.wait(60) and reader.work.was_left


def test_what_cannot_be_read_is_raised_where_it_is_waited_for(tokens: Tokens) -> None:
    reader = follow(asked("JULIET: ♥"))
    assert reader.work.ended.wait(60)
    with pytest.raises(InputError, match="♥"):
        reader.work.result()
