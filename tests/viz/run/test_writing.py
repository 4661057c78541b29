"""A text that is written for all who wait for it: a part of it is the shorter answer."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from threading import Semaphore
from typing import Any

import pytest
import streamlit as st

from transformer import InputError
from viz.run import writing
from viz.run.batches import Runner
from viz.run.kept import KEPT
from viz.run.request import Request, answer, answer_at_hand, make_answer, make_request
from viz.run.writing import Reader, part_of, read, with_length


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

    def make(self, request: Request, on_token: Any, **_: Any) -> Any:
        def tell(so_far: object) -> None:
            assert self.n_let.acquire(timeout=60)
            try:
                on_token(so_far)
            finally:
                self.written.release()

        return make_answer(request, tell, runner=Alone())  # it holds nobody else up


@pytest.fixture
def tokens(monkeypatch: pytest.MonkeyPatch) -> Iterator[Tokens]:
    st.cache_resource.clear()
    KEPT.clear()
    tokens = Tokens()
    monkeypatch.setattr(writing, "make_answer", tokens.make)
    yield tokens
    tokens.n_let.release(1000)  # whatever still writes ends


def asked(text: str = "JULIET: Good night", length: int = 6) -> Request:
    return make_request("shakespeare", text, "sample", (("max_len", length), ("seed", 3)))


def reader_of(request: Request) -> Reader:
    reader = read(request)
    assert reader is not None
    return reader


def test_a_part_is_the_answer_to_a_shorter_request(tokens: Tokens) -> None:
    reader = reader_of(asked())
    tokens.let(2)
    part, shorter = part_of(reader.writing), answer(with_length(asked(), 2))
    assert part.request == shorter.request
    assert part.decoding is not None and shorter.decoding is not None
    assert part.decoding.text == shorter.decoding.text
    ours, theirs = (
        each.recording.attentions["decoder_self"].weights(0) for each in (part, shorter)
    )
    assert ours.equal(theirs)
    assert ours.size(-1) == len("JULIET: Good night") + 1
    tokens.n_let.release(4)
    assert reader.writing.done.wait(60)
    assert reader.writing.result() is answer(asked()) is answer_at_hand(asked())
    assert read(asked()) is None


def test_all_who_ask_for_it_wait_for_the_same_text(tokens: Tokens) -> None:
    first, second = reader_of(asked()), reader_of(asked())
    other = reader_of(asked("ROMEO: O"))
    assert first.writing is second.writing is not other.writing
    first.end()
    tokens.n_let.release(12)
    assert first.writing.done.wait(60)
    assert answer_at_hand(asked()) is not None  # the second still wanted it


def test_it_ends_with_the_next_token_once_nobody_waits(tokens: Tokens) -> None:
    reader = reader_of(asked(length=50))
    tokens.let(2)
    reader.end()
    tokens.let(1)
    assert reader.writing.done.wait(60)
    assert answer_at_hand(asked(length=50)) is None
    again = reader_of(asked(length=50))
    assert again.writing is not reader.writing
    again.end()


def test_it_ends_when_the_browser_asks_no_more(
    tokens: Tokens, monkeypatch: pytest.MonkeyPatch
) -> None:
    reader = reader_of(asked(length=40))
    monkeypatch.setattr(writing, "GONE", 1e6)
    tokens.let(3)
    assert not reader.writing.done.is_set()
    monkeypatch.setattr(writing, "GONE", 0.0)
    tokens.let(1)
    assert reader.writing.done.wait(60) and reader.writing.is_unread


def test_what_cannot_be_read_is_raised_where_it_is_waited_for(tokens: Tokens) -> None:
    reader = reader_of(asked("JULIET: ♥"))
    assert reader.writing.done.wait(60)
    with pytest.raises(InputError, match="♥"):
        reader.writing.result()
