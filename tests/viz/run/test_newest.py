"""Everybody has one place to wait, the newest wins it, and nobody stops the others."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from threading import Event
from typing import Any, ClassVar

import pytest

from viz.run.cache import CACHE
from viz.run.line import Line, Runner
from viz.run.work import Follower, Newest, Study


@dataclass(frozen=True, eq=False)
class Piece(Study[Any]):
    """A study that a test makes of a function of its runner. Each is another one."""

    is_kept: ClassVar[bool] = False

    make: Callable[[Runner], Any]

    def run(self, before: Any, runner: Runner) -> Iterator[Any]:
        yield self.make(runner)


@dataclass
class Person:
    """Somebody who asks, and hears when each piece is over."""

    line: Line
    newest: Newest = field(init=False)

    def __post_init__(self) -> None:
        self.newest = Newest(self.line)

    def ask(self, make: Callable[[Runner], Any]) -> "Answer":
        over = Event()
        return Answer(self.newest.follow(Piece(make), over.set), over)


@dataclass
class Answer:
    """The follower of a piece, and what is set when that is over."""

    follower: Follower[Any]
    over: Event

    def result(self) -> Any:
        assert self.over.wait(20) and not self.is_replaced
        return self.follower.work.result()

    @property
    def is_replaced(self) -> bool:
        return self.follower.is_stopped

    @property
    def is_done(self) -> bool:
        return self.over.is_set()


def test_work_is_done_and_errors_arrive() -> None:
    person = Person(Line(2))
    assert person.ask(lambda _: 3).result() == 3

    def fails(_: Runner) -> None:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        person.ask(fails).result()
    assert person.ask(lambda _: 4).result() == 4


def test_the_newest_replaces_the_one_that_waits() -> None:
    person, started, go = Person(Line()), Event(), Event()
    person.ask(lambda _: (started.set(), go.wait(20)))
    assert started.wait(10)
    waiting = [person.ask(lambda _, n=n: n) for n in range(5)]  # type: ignore[misc]
    for older in waiting[:-1]:  # at once, whatever goes on
        assert older.over.wait(10) and older.is_replaced
    assert not waiting[-1].is_done
    go.set()
    assert waiting[-1].result() == 4


def test_what_goes_on_ends_at_a_step_where_a_newer_one_is_asked_for() -> None:
    person, started, ended = Person(Line()), Event(), Event()

    def until_replaced(runner: Runner) -> None:
        started.set()
        assert runner.check is not None
        try:
            while True:
                runner.check()
        finally:
            ended.set()

    first = person.ask(until_replaced)
    assert started.wait(10) and not first.is_done
    assert person.ask(lambda _: "newer").result() == "newer"
    assert first.is_replaced and ended.is_set()


def test_after_one_that_was_replaced_the_next_is_done_to_its_end() -> None:
    """Who asks faster than anything is done sees every second answer, rather than none."""
    person, begun, asked = Person(Line()), [Event() for _ in range(4)], [Event() for _ in range(5)]

    def make(runner: Runner, n: int) -> int:
        begun[n].set()
        assert n == 3 or asked[n + 1].wait(20)
        assert runner.check is not None
        runner.check()
        return n

    answers = []
    for n in range(4):
        answers.append(person.ask(lambda runner, n=n: make(runner, n)))  # type: ignore[misc]
        asked[n].set()
        assert begun[n].wait(10)
    assert answers[1].result() == 1 and answers[3].result() == 3
    assert answers[0].is_replaced and answers[2].is_replaced


def test_one_who_is_slow_does_not_stop_the_others() -> None:
    line, go = Line(2), Event()
    slow = Person(line).ask(lambda _: go.wait(20))
    others = [Person(line).ask(lambda _: 1) for _ in range(20)]
    assert sum(other.result() for other in others) == 20
    assert not slow.is_done
    go.set()
    assert slow.result()


def test_people_take_turns() -> None:
    """Who asks again and again waits behind everybody who asked meanwhile."""
    line, go, order = Line(), Event(), []
    Person(line).ask(lambda _: go.wait(20))
    greedy, last = Person(line), []

    def again(n: int) -> None:
        order.append(f"greedy {n}")
        if n < 3:
            last.append(greedy.ask(lambda _: again(n + 1)))

    until(lambda: line.n_waiting == 0)
    last.append(greedy.ask(lambda _: again(0)))
    until(lambda: line.n_waiting == 1)
    for n, name in enumerate("bc", 2):
        Person(line).ask(lambda _, name=name: order.append(name))  # type: ignore[misc]
        until(lambda n=n: line.n_waiting == n)  # type: ignore[misc]
    go.set()
    until(lambda: len(order) == 6)
    assert order == ["greedy 0", "b", "c", "greedy 1", "greedy 2", "greedy 3"]


def test_who_waits_for_others_leaves_the_place_to_them() -> None:
    line, go, aside = Line(), Event(), Event()

    def make(runner: Runner) -> str:
        with runner.aside():
            aside.set()
            assert go.wait(10)
        return "back"

    first = Person(line).ask(make)
    assert aside.wait(10)
    assert Person(line).ask(lambda _: "b").result() == "b"
    assert not first.is_done
    go.set()
    assert first.result() == "back"


def test_a_hundred_people_who_ask_at_once_are_all_served_and_nothing_is_kept() -> None:
    line, n_bytes = Line(2), CACHE.n_bytes
    people = [Person(line) for _ in range(100)]
    answers = [
        [person.ask(lambda _, at=(i, n): at) for n in range(4)]  # type: ignore[misc]
        for i, person in enumerate(people)
    ]
    assert [each[-1].result() for each in answers] == [(i, 3) for i in range(100)]
    assert CACHE.n_bytes == n_bytes


def until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 20
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.001)
