"""Everybody has one place to wait, the newest wins it, and nobody stops the others."""

import time
from collections.abc import Callable
from concurrent.futures import CancelledError, wait
from threading import Event

import pytest

from viz.run.turns import Turn, Turns


def test_work_is_done_and_errors_arrive() -> None:
    turns = Turns(2)
    assert turns.ask("a", lambda _: 3).result() == 3

    def fails(_: Turn) -> None:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        turns.ask("a", fails).result()
    assert turns.ask("a", lambda _: 4).result() == 4


def test_the_newest_replaces_the_one_that_waits() -> None:
    turns, started, go = Turns(1), Event(), Event()
    running = turns.ask("a", lambda _: (started.set(), go.wait()))
    assert started.wait(10)
    waiting = [turns.ask("a", lambda _, n=n: n) for n in range(5)]  # type: ignore[misc]
    go.set()
    assert running.result()[1] and waiting[-1].result() == 4
    for older in waiting[:-1]:
        with pytest.raises(CancelledError):
            older.result()


def test_running_work_can_hear_that_it_is_not_wanted_any_more() -> None:
    turns, started, heard = Turns(1), Event(), []

    def work(turn: Turn) -> None:
        heard.append(turn.is_wanted())
        started.set()
        while turn.is_wanted():
            pass
        heard.append(turn.is_wanted())

    first = turns.ask("a", work)
    assert started.wait(10)
    second = turns.ask("a", lambda turn: turn.is_wanted())
    wait([first, second])
    assert heard == [True, False] and second.result()


def test_one_who_is_slow_does_not_stop_the_others() -> None:
    turns, go = Turns(2), Event()
    slow = turns.ask("slow", lambda _: go.wait())
    others = [turns.ask(f"person {n}", lambda _: 1) for n in range(20)]
    assert sum(other.result(10) for other in others) == 20
    assert not slow.done()
    go.set()
    assert slow.result()


def test_people_take_turns() -> None:
    """Who asks again and again waits behind everybody who asked meanwhile."""
    turns, go, order = Turns(1), Event(), []
    turns.ask("first", lambda _: go.wait())

    def again(n: int) -> None:
        order.append(f"greedy {n}")
        if n < 3:
            last.append(turns.ask("greedy", lambda _: again(n + 1)))

    last = [turns.ask("greedy", lambda _: again(0))]
    others = [
        turns.ask(name, lambda _, name=name: order.append(name))  # type: ignore[misc]
        for name in ("b", "c")
    ]
    go.set()
    wait(others)
    while len(last) < 4 or not last[-1].done():
        last[-1].result(10)
    assert order == ["greedy 0", "b", "c", "greedy 1", "greedy 2", "greedy 3"]


def test_after_work_that_was_dropped_the_next_is_done_to_its_end() -> None:
    """Who asks faster than anything is done sees every second answer, rather than none."""
    turns, begun = Turns(1), [Event() for _ in range(4)]

    def work(turn: Turn, n: int) -> bool:
        begun[n].set()
        _until(lambda: n == 3 or asked[n + 1].is_set())
        return turn.is_wanted()

    asked, answers = [Event() for _ in range(5)], []
    for n in range(4):
        answers.append(turns.ask("a", lambda turn, n=n: work(turn, n)))  # type: ignore[misc]
        asked[n].set()
        assert begun[n].wait(10)
    assert [answer.result(10) for answer in answers] == [False, True, False, True]


def test_who_waits_for_others_leaves_the_place_to_them() -> None:
    turns, go, aside = Turns(1), Event(), Event()

    def work(turn: Turn) -> str:
        with turn.aside():
            aside.set()
            assert go.wait(10)
        return "back"

    first = turns.ask("a", work)
    assert aside.wait(10)
    assert turns.ask("b", lambda _: "b").result(10) == "b"
    assert not first.done()
    go.set()
    assert first.result(10) == "back"


def _until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 20
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.001)
