"""Work for many people at once: each has one place to wait, and they take turns."""

import time
from collections import deque
from collections.abc import Callable, Hashable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from threading import Event, Lock
from typing import Any, TypeVar

T = TypeVar("T")
LONGEST = 0.25
"""Seconds of processor after which work that goes on goes to the end of the line."""
MOST = 64
"""Pieces of work that are begun and not done: most of them wait to go on."""


class Line:
    """n places to work at; who has waited for longest gets the next one that is free."""

    def __init__(self, n: int) -> None:
        self._lock = Lock()
        self._n_free = n
        self._waiting: deque[Event] = deque()

    @property
    def n_waiting(self) -> int:
        return len(self._waiting)

    def enter(self) -> None:
        """Take a place, once there is one."""
        with self._lock:
            if self._n_free:
                self._n_free -= 1
                return
            mine = self._at_the_end()
        mine.wait()

    def leave(self) -> None:
        """Give the place to whoever is next."""
        with self._lock:
            if self._waiting:
                self._waiting.popleft().set()
            else:
                self._n_free += 1

    def give_way(self) -> None:
        """Give the place away and take one again, if anybody waits."""
        with self._lock:
            if not self._waiting:
                return
            mine = self._at_the_end()
            self._waiting.popleft().set()
        mine.wait()

    def _at_the_end(self) -> Event:
        mine = Event()
        self._waiting.append(mine)
        return mine


class Turn:
    """A person's piece of work that has begun."""

    def __init__(
        self, line: Line, clock: Callable[[], float], is_replaced: Callable[[], bool]
    ) -> None:
        self.line, self._clock, self._is_replaced = line, clock, is_replaced
        self._began = clock()
        self.was_dropped = False
        """Whether it was told that it is not wanted."""

    def is_wanted(self) -> bool:
        """Whether it is to go on; any thread may ask."""
        self.was_dropped = self.was_dropped or self._is_replaced()
        return not self.was_dropped

    def give_way(self) -> None:
        """Between two steps of long work: let the others go first, where there are any."""
        if self._clock() - self._began >= LONGEST:
            self.line.give_way()
            self._began = self._clock()

    @contextmanager
    def aside(self) -> Iterator[None]:
        """While somebody else does the work: the place is free for others."""
        self.line.leave()
        try:
            yield
        finally:
            self.line.enter()
            self._began = self._clock()


class Turns:
    """At most one piece of work runs for each person, and at most one waits: the newest.

    Whoever has had a turn goes to the end of the line, so nobody waits for more than one turn of
    each of the others; and work that takes long has several turns. What runs is not wanted any
    more once the person has asked for something else; but after work that was dropped so the next
    is done to its end: who asks faster than anything is done would see nothing at all.

    n_workers: pieces that run at once. clock: gives seconds, of the thread that asks.
    """

    def __init__(self, n_workers: int, clock: Callable[[], float] = time.thread_time) -> None:
        self._pool = ThreadPoolExecutor(MOST, thread_name_prefix="turn")
        self.line = Line(n_workers)
        self._clock = clock
        self._lock = Lock()
        self._waiting: dict[Hashable, tuple[Future[Any], Callable[[Turn], Any]]] = {}
        self._in_line: set[Hashable] = set()
        self._was_dropped: set[Hashable] = set()
        """Whose last piece of work was not done to its end."""

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
        turn = Turn(self.line, self._clock, lambda: person in self._waiting and not goes_on)
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
