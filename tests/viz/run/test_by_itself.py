"""Texts that share no batch: one at a time, entered ones first, and none stops the others."""

from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from math import inf
from threading import Event, Semaphore
from typing import Any

import pytest
import torch
from torch import Tensor

from tests.transformer.decoding.test_shared_batch import until
from tests.viz.run.made import Made
from transformer import decode
from transformer.decoding.method import Ask, Hypothesis, Search
from transformer.decoding.shared_batch import OnStep
from viz.run import line as line_module
from viz.run.cache import CACHE
from viz.run.line import (
    ENTERED,
    LONGEST,
    PREVIEW,
    DeviceLine,
    Line,
    Runner,
    batch_of,
    by_itself,
    device_line,
    entered,
)
from viz.run.request import make_request, open_checkpoint
from viz.run.work import follow

SOURCE = torch.tensor([[3]])


class Gone(Exception):
    """Nobody waits any more."""


class Steps:
    """A model that takes a step when it may, and writes down whose it was."""

    def __init__(self, name: str, order: list[str]) -> None:
        self.name, self.order = name, order
        self.may, self.begun = Semaphore(0), Event()
        self.config: Any = None

    def start(self, source: Tensor) -> Any:
        self.begun.set()
        return self

    def first(self, source: Tensor) -> Tensor:
        return source

    def room(self, n_source: int) -> int:
        return 9

    def advance(self, state: Any, target: Tensor) -> Tensor:
        assert self.may.acquire(timeout=60)
        self.order.append(self.name)
        return target[..., None].float()

    def search(self, n: int) -> Search:
        for _ in range(n):
            yield Ask(SOURCE)
        return [Hypothesis((3,), torch.zeros(1, 4), 0.0)]


@pytest.fixture(autouse=True)
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(line_module, "EVERY", 0.005)


def patient() -> DeviceLine:
    """On a busy machine somebody may wait for long: rank counts nevertheless."""
    return DeviceLine(Line(patience=inf), Line(patience=inf))


def begin(
    pool: ThreadPoolExecutor, model: Steps, n: int, line: DeviceLine, rank: int, **more: Any
) -> "Future[list[Hypothesis]]":
    more = {"clock": lambda: 0.0, **more}
    asked = partial(by_itself, model, model.search(n), SOURCE, more.pop("check", None), line, rank)
    return pool.submit(asked, **more)


def test_one_at_a_time_and_the_next_one_is_told_its_place() -> None:
    line, order, told = patient(), list[str](), list[int | None]()
    a, b = Steps("a", order), Steps("b", order)
    b.may.release(2)
    with ThreadPoolExecutor(2) as pool:
        first = begin(pool, a, 2, line, ENTERED)
        assert a.begun.wait(60)
        second = begin(pool, b, 2, line, ENTERED, on_wait=told.append)
        until(lambda: 0 in told)
        a.may.release(2)
        assert first.result(60)[0].ids == second.result(60)[0].ids == (3,)
    assert order == ["a", "a", "b", "b"]


def test_an_entered_text_comes_between_two_steps_of_a_preview() -> None:
    line, order = patient(), list[str]()
    preview, text = Steps("preview", order), Steps("entered", order)
    text.may.release(2)
    with ThreadPoolExecutor(2) as pool:
        first = begin(pool, preview, 3, line, PREVIEW)
        assert preview.begun.wait(60)
        second = begin(pool, text, 2, line, ENTERED)
        until(lambda: line.texts.n_waiting == 1)
        preview.may.release(3)
        first.result(60), second.result(60)
    assert order == ["preview", "entered", "entered", "preview", "preview"]


def test_a_long_text_lets_the_next_one_go_on() -> None:
    """The clock stands where the test puts it: each step of the long one takes a whole turn."""
    line, order, now = patient(), list[str](), [0.0]
    long, short = Steps("long", order), Steps("short", order)
    short.may.release(2)
    with ThreadPoolExecutor(2) as pool:
        first = begin(pool, long, 3, line, ENTERED, clock=lambda: now[0])
        assert long.begun.wait(60)
        second = begin(pool, short, 2, line, ENTERED, clock=lambda: 0.0)
        until(lambda: line.texts.n_waiting == 1)
        now[0] = LONGEST
        long.may.release(3)
        first.result(60), second.result(60)
    assert order == ["long", "short", "short", "long", "long"]


def test_what_nobody_waits_for_ends_where_it_waits_and_where_it_works() -> None:
    line, order, is_gone = patient(), list[str](), Event()
    a, b = Steps("a", order), Steps("b", order)

    def check() -> None:
        if is_gone.is_set():
            raise Gone

    with ThreadPoolExecutor(2) as pool:
        first = begin(pool, a, 3, line, ENTERED, check=check)
        assert a.begun.wait(60)
        second = begin(pool, b, 3, line, ENTERED, check=check)
        until(lambda: line.texts.n_waiting == 1)
        is_gone.set()
        with pytest.raises(Gone):
            second.result(60)
        a.may.release(3)
        with pytest.raises(Gone):
            first.result(60)
    assert order == ["a"]
    for each in (line.texts, line.steps):  # both places are free again
        each.enter()


def test_a_text_under_edits_takes_its_steps_between_those_of_a_batch() -> None:
    """The batch is held within a step: the edited text waits for its own, and both come out."""
    checkpoint = open_checkpoint(make_request("copy", "3 7 2", "greedy"))
    line, batch = device_line(checkpoint.model), batch_of(checkpoint.model)
    until(lambda: not batch.is_at_work)
    go = Event()
    ask = partial(decode, checkpoint, run=entered.run(checkpoint.model))
    with ThreadPoolExecutor(3) as pool:
        plain = pool.submit(ask, "5 5 2 8", on_token=lambda _: go.wait(60))
        until(lambda: batch.is_at_work)
        edited = pool.submit(ask, "3 7 2", edits=["head-off:cross.0.0"])
        until(lambda: line.steps.n_waiting == 1)
        run = Runner(PREVIEW).run(checkpoint.model)
        typed = pool.submit(decode, checkpoint, "3 7 2", edits=["head-off:cross.0.0"], run=run)
        until(lambda: line.texts.n_waiting == 1)
        go.set()
        assert plain.result(60).text == "5 5 2 8"
    alone = decode(checkpoint, "3 7 2", edits=["head-off:cross.0.0"])
    for found in (edited.result(), typed.result()):
        assert found.text == alone.text
        assert torch.equal(found.hypotheses[0].log_probs, alone.hypotheses[0].log_probs)
    assert line.steps.n_waiting == line.texts.n_waiting == 0


def test_long_work_takes_no_step_while_an_entered_text_has_some_to_take(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    CACHE.clear()
    line, order, begun, goes = device_line(), list[str](), Event(), Event()
    monkeypatch.setattr(line.steps, "patience", inf)

    def works(known: object, go_on: OnStep) -> Any:
        begun.set()
        assert goes.wait(60)
        go_on()
        order.append("work")
        yield 1

    work = follow(Made("gives way", works)).work
    assert begun.wait(60)
    with ThreadPoolExecutor(1) as pool:
        text = Steps("entered", order)
        text.may.release(3)
        entered_text = begin(pool, text, 3, line, ENTERED)
        until(lambda: line.steps.n_waiting == 1)
        goes.set()
        entered_text.result(60)
    assert work.ended.wait(60)
    assert order == ["entered"] * 3 + ["work"] and work.error is None
