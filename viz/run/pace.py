"""An estimate of how long whoever asks for an answer now will wait, by the pace of those before."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Lock

USUAL = 0.15
"""Seconds between two answers of a server that is never idle, until it has given some."""
SHARE = 0.1
"""The weight of the newest of these times in their mean."""


class Pace:
    """Counts the runs of a page that wait for an answer or draw it, and how fast they end.

    As many as are there end before who comes now: they take turns, and none is done early. So a
    wait is their number times the mean time between two ends. Of who is alone that time says how
    long an answer takes, not how many there are in a second: there batches make the difference.

    clock: gives seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock, self._lock = clock, Lock()
        self._n, self._mean, self._since = 0, USUAL, 0.0
        self._is_mine: ContextVar[list[bool] | None] = ContextVar("this run waits", default=None)

    @contextmanager
    def run(self) -> Iterator[None]:
        """Within the block a thread draws a page, which may wait for an answer."""
        token = self._is_mine.set([])
        try:
            yield
        except BaseException:  # as somebody asks for another page
            self._end(is_done=False)
            raise
        else:
            self._end(is_done=True)
        finally:
            self._is_mine.reset(token)

    def waits(self) -> None:
        """Say that this run waits for an answer that has to be made."""
        mine = self._is_mine.get()
        if mine is None or mine:
            return
        mine.append(True)
        with self._lock:
            if not self._n:
                self._since = self._clock()
            self._n += 1

    def gives_up(self) -> None:
        """Say that this run ends without the answer."""
        self._end(is_done=False)

    def _end(self, is_done: bool) -> None:
        mine = self._is_mine.get()
        if not mine:
            return
        mine.clear()
        with self._lock:
            now = self._clock()
            if is_done and self._n > 1:
                self._mean += SHARE * (now - self._since - self._mean)
            if is_done:
                self._since = now
            self._n -= 1

    def estimate(self) -> float:
        """Return the seconds that whoever has just come will wait, about."""
        with self._lock:
            return self._n * self._mean


PACE = Pace()
