"""Long work grows, stops after a step, goes on from there, and is shared by those who wait."""

import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from math import inf
from pathlib import Path
from threading import Event

import pytest

from tests.transformer.decoding.test_shared_batch import until
from tests.viz.run.made import Made
from transformer.decoding.shared_batch import OnStep
from transformer.refusal import Refusal
from viz.run import line as line_module
from viz.run import line as step_module
from viz.run import work as works
from viz.run.cache import CACHE
from viz.run.line import ENTERED, Place, Runner, device_line
from viz.run.work import Study, finish, follow, latest


@pytest.fixture(autouse=True)
def nothing_kept() -> Iterator[None]:
    CACHE.clear()
    yield
    CACHE.clear()


class Counting:
    """Yields 1 .. 5; before each value it waits until it may."""

    def __init__(self) -> None:
        self.may, self.begun = threading.Semaphore(0), 0

    def __call__(self, known: int | None, go_on: OnStep) -> Iterator[int]:
        self.begun += 1
        for number in range((known or 0) + 1, 6):
            assert self.may.acquire(timeout=10)
            yield number


def reached(work: works.Work[int], number: int) -> None:
    while work.latest != number:
        assert not work.ended.wait(0.005)


def test_it_stops_and_goes_on_from_there() -> None:
    counting = Counting()
    first = follow(Made("a", counting))
    counting.may.release(2)
    reached(first.work, 2)
    first.stop()
    counting.may.release()
    assert first.work.ended.wait(10)
    assert (first.work.latest, first.work.is_whole) == (3, False)
    again = follow(Made("a", counting))
    assert again.work is not first.work and again.work.latest == 3
    counting.may.release(2)
    assert again.work.ended.wait(10)
    assert (again.work.latest, again.work.is_whole, counting.begun) == (5, True, 2)
    assert follow(Made("a", counting)).work.ended.is_set() and counting.begun == 2


def test_it_stops_within_a_step_that_asks_whether_to_go_on() -> None:
    begun = threading.Event()

    def searching(known: int | None, go_on: OnStep) -> Iterator[int]:
        while True:
            begun.set()
            go_on()
        yield 1

    stopped = follow(Made("search", searching))
    assert begun.wait(10) and not stopped.work.ended.is_set()
    stopped.stop()
    assert stopped.work.ended.wait(10)
    assert (stopped.work.error, stopped.work.latest, stopped.work.is_whole) == (None, None, False)


def test_a_step_that_takes_its_end_for_a_refusal_says_nothing() -> None:
    begun = threading.Event()

    def careless(known: int | None, go_on: OnStep) -> Iterator[int]:
        yield 1
        begun.set()
        try:
            while True:
                go_on()
        except Refusal:
            yield 2

    stopped = follow(Made("careless", careless))
    assert begun.wait(10)
    stopped.stop()
    assert stopped.work.ended.wait(10)
    assert (stopped.work.latest, stopped.work.is_whole) == (1, False)


def test_two_wait_for_one_work_and_one_of_them_stops() -> None:
    counting = Counting()
    one, other = follow(Made("b", counting)), follow(Made("b", counting))
    assert one.work is other.work
    one.stop()
    counting.may.release(5)
    assert other.work.ended.wait(10)
    assert other.work.is_whole and other.work.latest == 5 and one.is_stopped


def test_nobody_looks_any_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(works, "GONE", 0.0)
    counting = Counting()
    gone = follow(Made("c", counting))
    assert gone.work.ended.wait(10) and not gone.work.is_whole
    assert gone.work.latest is None


def test_a_page_that_was_closed_is_waited_for_no_longer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(works, "CLOSED", 0.0)
    counting = Counting()
    opened = follow(Made("open", counting))
    counting.may.release(2)
    reached(opened.work, 2)
    closed = follow(Made("closed", Counting()), lambda: False)
    assert closed.work.ended.wait(10) and closed.work.latest is None
    counting.may.release(3)
    assert opened.work.ended.wait(10) and opened.work.is_whole


@pytest.mark.parametrize(("slice", "order"), [(inf, "aaaab"), (0.0, "abaaa")])
def test_short_steps_are_taken_for_a_while_before_those_of_others(
    slice: float, order: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However long a step of other work takes, it does not come after each of them."""
    monkeypatch.setattr(step_module, "SLICE", slice)
    steps, found, begun, goes = device_line().steps, list[str](), Event(), Event()
    monkeypatch.setattr(steps, "patience", inf)

    def short(known: None, go_on: OnStep) -> Iterator[int]:
        begun.set()
        assert goes.wait(10)
        for _ in range(4):
            found.append("a")
            go_on()
        yield 1

    def long(known: None, go_on: OnStep) -> Iterator[int]:
        found.append("b")
        yield 1

    one = follow(Made("short", short)).work
    assert begun.wait(10)
    other = follow(Made("long", long)).work
    until(lambda: steps.n_waiting == 1)
    goes.set()
    assert one.ended.wait(10) and other.ended.wait(10)
    assert "".join(found) == order


def test_work_goes_on_while_texts_are_written_without_a_pause(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It waits for as long as rank counts, and then for no other step of its slice."""
    monkeypatch.setattr(step_module, "SLICE", inf)
    steps, began, is_done = device_line().steps, Event(), Event()
    monkeypatch.setattr(steps, "patience", 0.02)
    n_written: list[int] = []

    def write() -> None:
        while not is_done.is_set():
            with Place(steps, ENTERED).held():
                n_written.append(1)
                began.wait(10)

    def search(known: None, go_on: OnStep) -> Iterator[int]:
        began.set()
        n_alone = 0  # steps in a row for which nothing was written, though texts waited
        for _ in range(2000):  # it may come between two texts before it has waited that long
            until(lambda: steps.n_waiting > 0)
            n_before = len(n_written)
            go_on()
            n_alone = n_alone + 1 if len(n_written) == n_before else 0
            if n_alone == 50:
                break
        assert n_alone == 50
        yield 1

    writers = [threading.Thread(target=write) for _ in range(2)]
    work = follow(Made("search", search)).work
    for each in writers:
        each.start()
    assert work.ended.wait(30)
    is_done.set()
    for each in writers:
        each.join()
    assert work.error is None and work.latest == 1


def test_what_it_raises_is_kept_for_those_who_wait() -> None:
    def fails(known: int | None, go_on: OnStep) -> Iterator[int]:
        yield 1
        raise ValueError("no")

    failed = follow(Made("d", fails))
    assert failed.work.ended.wait(10)
    assert failed.work.latest == 1 and isinstance(failed.work.error, ValueError)
    assert not failed.work.is_whole


ENDS = """
import itertools, sys
import torch
from tests.viz.run.made import Made
from viz.run.work import follow

def make(known, go_on):
    for n in itertools.count(1):
        for _ in range(20):
            torch.randn(300, 300) @ torch.randn(300, 300)
        yield n

torch.set_num_threads(1)
work = follow(Made("endless", make)).work
while not (work.latest or 0) > 3:
    assert not work.ended.wait(0.01)
sys.exit(3)
"""


def test_a_process_ends_as_it_says_while_work_goes_on() -> None:
    """Not by an abort: torch ends the process where a thread of its own is ended within it."""
    root = Path(__file__).parents[3]
    done = subprocess.run([sys.executable, "-c", ENDS], cwd=root, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (3, "")


def test_what_is_asked_twice_is_one_study_in_the_cache() -> None:
    counting = Counting()
    counting.may.release(5)
    assert latest(Made("once", counting)) is None
    assert finish(Made("once", counting)) == finish(Made("once", counting)) == 5
    assert latest(Made("once", counting)) == 5 and counting.begun == 1
    assert latest(Made("other", counting)) is None


def test_one_makes_it_and_the_others_wait() -> None:
    counting = Counting()
    with ThreadPoolExecutor(8) as pool:
        values = [pool.submit(finish, Made("shared", counting)) for _ in range(8)]
        counting.may.release(5)
        assert {each.result(30) for each in values} == {5}
    assert counting.begun == 1 and not works._going_on


def test_who_needs_another_study_is_told_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(line_module, "EVERY", 0.005)
    steps, told = device_line().steps, list[int | None]()
    counting = Counting()
    counting.may.release(5)
    with ThreadPoolExecutor(1) as pool:
        steps.enter()
        try:
            value = pool.submit(finish, Made("needed", counting), Runner(on_wait=told.append))
            until(lambda: 0 in told)
        finally:
            steps.leave()
        assert value.result(30) == 5 and told[-1] is None


@pytest.mark.parametrize("is_shared", [False, True])
def test_what_is_needed_is_waited_for_no_longer_than_what_needs_it(is_shared: bool) -> None:
    begun, may = Event(), Event()

    def long(known: int | None, go_on: OnStep) -> Iterator[int]:
        while not may.is_set():
            begun.set()
            go_on()
        yield 1

    inner = Made("inner", long)

    @dataclass(frozen=True)
    class Outer(Study[int]):
        def run(self, before: int | None, runner: Runner) -> Iterator[int]:
            yield finish(inner, runner)

    other = follow(inner) if is_shared else None
    outer = follow(Outer())
    assert begun.wait(10)
    until(lambda: len(works._going_on) == 2)
    work = works._going_on[inner]
    until(lambda: len(work.followers) == 1 + is_shared)
    outer.stop()
    assert outer.work.ended.wait(10) and outer.work.was_left
    if other is None:
        assert work.ended.wait(10) and work.was_left
        return
    assert not work.ended.is_set()
    may.set()
    assert work.ended.wait(10) and other.work.result() == 1


def test_whoever_waits_to_the_end_is_told_what_it_raised() -> None:
    def fails(known: int | None, go_on: OnStep) -> Iterator[int]:
        yield 1
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        finish(Made("fails", fails))
    assert latest(Made("fails", fails)) == 1
