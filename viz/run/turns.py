"""Work for many people at once: each has one place to wait, and they take turns."""

from collections.abc import Callable, Hashable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from threading import Lock
from typing import Any, TypeVar

from viz.run.line import Line

T = TypeVar("T")
MOST = 64
"""Pieces of work that are begun and not done: most of them wait to go on."""


class Turn:
    """A person's piece of work that has begun."""

    def __init__(self, line: Line, is_replaced: Callable[[], bool]) -> None:
        self.line, self._is_replaced = line, is_replaced
        self.was_dropped = False
        """True: it heard that it is not wanted."""

    def is_wanted(self) -> bool:
        """Tell whether it is to go on; any thread may ask."""
        self.was_dropped = self.was_dropped or self._is_replaced()
        return not self.was_dropped

    @contextmanager
    def aside(self) -> Iterator[None]:
        """While somebody else does the work: the place is free for others."""
        self.line.leave()
        try:
            yield
        finally:
            self.line.enter()


class Turns:
    """At most one piece of work runs for each person, and at most one waits: the newest.

    Whoever has had a turn goes to the end of the line, so nobody waits for more than one turn of
    each of the others. What runs is not wanted any more once the person has asked for something
    else; but after work that was dropped so the next is done to its end: who asks faster than
    anything is done would see nothing at all.

    n_workers: pieces that run at once.
    """

    def __init__(self, n_workers: int) -> None:
        self._pool = ThreadPoolExecutor(MOST, thread_name_prefix="turn")
        self.line = Line(n_workers)
        self._lock = Lock()
        self._waiting: dict[Hashable, tuple[Future[Any], Callable[[Turn], Any]]] = {}
        self._in_line: set[Hashable] = set()
        self._was_dropped: set[Hashable] = set()
        """People whose last piece of work was not done to its end."""

    @property
    def n_waiting(self) -> int:
        """Pieces of work that wait to begin, or to go on."""
        return self.line.n_waiting

    def ask(self, person: Hashable, work: Callable[[Turn], T]) -> Future[T]:
        """Do this in the person's next turn; what was waiting for that turn is cancelled."""
        future: Future[T] = Future()
        with self._lock:
            older = self._waiting.get(person)
            self._waiting[person] = future, work
            if person not in self._in_line:
                self._in_line.add(person)
                self._pool.submit(self._turn, person)
        if older is not None:
            older[0].cancel()
        return future

    def _turn(self, person: Hashable) -> None:
        self.line.enter()
        try:
            self._work(person)
        finally:
            self.line.leave()

    def _work(self, person: Hashable) -> None:
        with self._lock:
            future, work = self._waiting.pop(person)
            goes_on = person in self._was_dropped
        turn = Turn(self.line, lambda: person in self._waiting and not goes_on)
        if future.set_running_or_notify_cancel():
            try:
                future.set_result(work(turn))
            except BaseException as error:
                future.set_exception(error)
        with self._lock:
            (self._was_dropped.add if turn.was_dropped else self._was_dropped.discard)(person)
            if person in self._waiting:
                self._pool.submit(self._turn, person)
            else:
                self._in_line.remove(person)
