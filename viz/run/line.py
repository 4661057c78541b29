"""Places to work at, for threads: who waits goes by rank, then by who came first."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Event, Lock

Tell = Callable[[int], object]
"""Told how many are before somebody who waits; what it raises ends the waiting."""
EVERY = 0.5
"""Seconds between two times that who waits is told."""
PATIENCE = 1.0
"""Seconds after which rank counts no more: nobody waits for ever."""


@dataclass(eq=False)
class _Waiting:
    rank: int
    since: float
    called: Event = field(default_factory=Event)


class Line:
    """n places; the one of the lowest rank who has waited for longest gets the next that is free.

    clock: gives seconds.
    """

    def __init__(
        self, n: int = 1, patience: float = PATIENCE, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._lock = Lock()
        self._n_free, self.patience, self._clock = n, patience, clock
        self._waiting: list[_Waiting] = []

    @property
    def n_waiting(self) -> int:
        return len(self._waiting)

    def is_wanted(self, rank: int) -> bool:
        """Tell whether anybody waits who is before somebody of this rank."""
        with self._lock:
            return any(self._rank(each) < rank for each in self._waiting)

    def enter(self, rank: int = 0, tell: Tell | None = None) -> None:
        """Take a place, once there is one. Raises what `tell` raises; then none is taken."""
        with self._lock:
            if self._n_free:
                self._n_free -= 1
                return
            mine = _Waiting(rank, self._clock())
            self._waiting.append(mine)
        self._wait(mine, tell)

    def leave(self) -> None:
        """Give the place to whoever is next."""
        with self._lock:
            self._pass_on()

    def give_way(self, rank: int = 0, tell: Tell | None = None, to_equals: bool = True) -> None:
        """Let those who are before it take its place, if any are, and take one again.

        to_equals: whether those of its own rank are. Raises what `tell` raises; then it has none.
        """
        with self._lock:
            if not self._waiting:
                return
            mine = _Waiting(rank, self._clock())
            self._waiting.insert(len(self._waiting) if to_equals else 0, mine)
            self._pass_on()
            if mine.called.is_set():
                return
        self._wait(mine, tell)

    def _wait(self, mine: _Waiting, tell: Tell | None) -> None:
        while not mine.called.wait(None if tell is None else EVERY):
            assert tell is not None
            try:
                tell(self._n_before(mine))
            except BaseException:
                with self._lock:
                    if mine in self._waiting:
                        self._waiting.remove(mine)
                    else:
                        self._pass_on()  # it was called meanwhile
                raise

    def _n_before(self, mine: _Waiting) -> int:
        with self._lock:
            in_order = sorted(self._waiting, key=self._rank)
        return in_order.index(mine) if mine in in_order else 0

    def _pass_on(self) -> None:
        if self._waiting:
            following = min(self._waiting, key=self._rank)
            self._waiting.remove(following)
            following.called.set()
        else:
            self._n_free += 1

    def _rank(self, each: _Waiting) -> int:
        return 0 if self._clock() - each.since > self.patience else each.rank


class Place:
    """A place in a line, which knows whether it has it: to be held within `held`."""

    def __init__(self, line: Line, rank: int = 0, tell: Tell | None = None) -> None:
        self.line, self.rank, self.tell = line, rank, tell
        self._is_there = False

    def enter(self) -> None:
        """Take it. Raises what `tell` raises."""
        self.line.enter(self.rank, self.tell)
        self._is_there = True

    def give_way(self, to_equals: bool = True) -> None:
        """Let others go first, as `Line.give_way` does."""
        self._is_there = False
        self.line.give_way(self.rank, self.tell, to_equals)
        self._is_there = True

    def leave(self) -> None:
        """Give it away, where it is there."""
        if self._is_there:
            self._is_there = False
            self.line.leave()

    @contextmanager
    def held(self) -> Iterator["Place"]:
        """While it lasts."""
        self.enter()
        try:
            yield self
        finally:
            self.leave()
