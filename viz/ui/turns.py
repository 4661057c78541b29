"""Work for many people at once: each has one place to wait, and workers take them in turn."""

from collections.abc import Callable, Hashable
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Lock
from typing import Any, TypeVar

T = TypeVar("T")
IsWanted = Callable[[], bool]
"""Whether the person has not asked for anything else since: work may stop where this is False."""


class Turns:
    """At most one piece of work runs for each person, and at most one waits: the newest.

    Whoever has had a turn goes to the end of the line, so nobody waits for more than one turn of
    each of the others.
    """

    def __init__(self, n_workers: int) -> None:
        self._pool = ThreadPoolExecutor(n_workers, thread_name_prefix="turn")
        self._lock = Lock()
        self._waiting: dict[Hashable, tuple[Future[Any], Callable[[IsWanted], Any]]] = {}
        self._in_line: set[Hashable] = set()

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
        with self._lock:
            future, work = self._waiting.pop(person)
        if future.set_running_or_notify_cancel():
            try:
                future.set_result(work(lambda: person not in self._waiting))
            except BaseException as error:
                future.set_exception(error)
        with self._lock:
            if person in self._waiting:
                self._pool.submit(self._turn, person)
            else:
                self._in_line.remove(person)
