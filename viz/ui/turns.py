"""Work for many people at once: each has one place to wait, and they take turns."""

import time
from collections import deque
from collections.abc import Callable, Hashable
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Event, Lock
from typing import Any, TypeVar

T = TypeVar("T")
IsWanted = Callable[[], bool]
"""Whether the person has not asked for anything else since: work may stop where this is False.

Whoever asks between two steps of long work lets the others go first, where there are any.
"""
LONGEST = 0.25
"""Seconds of processor after which work that goes on goes to the end of the line."""
MOST = 64
"""Pieces of work that are begun and not done: most of them wait to go on."""


class _Line:
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


class Turns:
    """At most one piece of work runs for each person, and at most one waits: the newest.

    Whoever has had a turn goes to the end of the line, so nobody waits for more than one turn of
    each of the others; and work that takes long has several turns.

    n_workers: pieces that run at once. clock: gives seconds, of the thread that asks.
    """

    def __init__(self, n_workers: int, clock: Callable[[], float] = time.thread_time) -> None:
        self._pool = ThreadPoolExecutor(MOST, thread_name_prefix="turn")
        self._line = _Line(n_workers)
        self._clock = clock
        self._lock = Lock()
        self._waiting: dict[Hashable, tuple[Future[Any], Callable[[IsWanted], Any]]] = {}
        self._in_line: set[Hashable] = set()

    @property
    def n_waiting(self) -> int:
        """Pieces of work that wait to begin, or to go on."""
        return self._line.n_waiting

    def ask(self, person: Hashable, work: Callable[[IsWanted], T]) -> Future[T]:
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
        self._line.enter()
        try:
            self._work(person)
        finally:
            self._line.leave()

    def _work(self, person: Hashable) -> None:
        began = self._clock()

        def is_wanted() -> bool:
            nonlocal began
            if self._clock() - began >= LONGEST:
                self._line.give_way()
                began = self._clock()
            return person not in self._waiting

        with self._lock:
            future, work = self._waiting.pop(person)
        if future.set_running_or_notify_cancel():
            try:
                future.set_result(work(is_wanted))
            except BaseException as error:
                future.set_exception(error)
        with self._lock:
            if person in self._waiting:
                self._pool.submit(self._turn, person)
            else:
                self._in_line.remove(person)
