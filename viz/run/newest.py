"""A policy of who asks again and again: the newest study replaces the one before."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from math import inf
from threading import Lock
from typing import Any

from viz.run.line import Line, Place
from viz.run.study import Study, Value
from viz.run.work import Follower, Unwanted, Work, follow


class Newest:
    """One person's studies: one of them goes on, and one waits, the newest.

    The one that goes on ends at its next step when a newer one is asked for; but after one that
    ended so the next is finished: who asks faster than anything is done would see nothing at all.

    line: of places that all people share. Whoever had one goes to its end, so nobody waits for
    more than one study of each of the others.
    """

    def __init__(self, line: Line) -> None:
        self._line, self._own, self._lock = line, Line(), Lock()
        self._newest: Follower[Any] | None = None
        self._to_finish: Work[Any] | None = None
        """The work that goes on, where nothing newer replaces it."""
        self._was_replaced = False
        """True: the last work that went on was not done to its end."""

    def follow(self, study: Study[Value], on_over: Callable[[], object]) -> Follower[Value]:
        """Wait for this study, in place of the one before. on_over: as of a follower."""
        with self._lock:
            older = self._newest
            self._newest = follower = follow(study, order=self._order, on_over=on_over)
            follower.seen = inf
            if older is not None and older.work is not self._to_finish:
                older.stop()
        return follower

    @contextmanager
    def _order(self, work: Work[Any]) -> Iterator[Callable[[], AbstractContextManager[None]]]:
        """While it is the work's turn. Gives what leaves the place to others for a while."""

        def tell(_: int) -> None:
            work.check()

        with Place(self._own, tell=tell).held():
            work.check()
            with Place(self._line, tell=tell).held() as place:
                work.check()
                with self._lock:
                    self._to_finish = work if self._was_replaced else None
                    self._was_replaced = False
                try:
                    yield partial(_aside, place)
                except Unwanted:
                    self._was_replaced = True
                    raise


@contextmanager
def _aside(place: Place) -> Iterator[None]:
    place.leave()
    try:
        yield
    finally:
        place.enter()
