"""Work whose result grows: in a thread of its own, for all sessions that wait; it can be stopped.

A piece of work is a generator; each value that it yields says all that is known so far. Steps of
all of them take turns: however many are asked for, one runs at a time, while no text that somebody
entered has steps to take. A long step says `go_on` now and then, and asks for no answer that others
may be making: it would wait for them, and they for it.
"""

import time
from collections.abc import Callable, Hashable, Iterator
from contextvars import ContextVar
from dataclasses import dataclass, field
from threading import Event, Lock, Thread
from typing import Any, Generic, TypeVar, cast

from transformer.refusal import Refusal
from viz.run.device_line import WORK, device_line
from viz.run.kept import KEPT, bytes_of
from viz.run.line import Place

T = TypeVar("T")
GONE, CLOSED = 90.0, 10.0
"""Seconds after which nobody looks any more: a page in the background may ask once a minute, one
that was closed, or lost its connection, asks no more."""
SLICE = 0.25
"""Seconds for which a piece of work takes its steps before others of its kind take theirs."""
Make = Callable[[T | None], Iterator[T]]
"""From what is known already, None at first, to values that know more."""

_lock = Lock()
_going_on: dict[Hashable, "Work[Any]"] = {}
_running: ContextVar["tuple[Work[Any], Place] | None"] = ContextVar("running", default=None)
"""The work of this thread, and its place at the device."""


class Unwanted(Refusal):
    """Nobody waits any more."""


def go_on() -> None:
    """Within a step: let texts that were entered go first; raises Unwanted, which ends the work,
    where nobody waits for it.
    """
    running = _running.get()
    if running is not None:
        work, place = running
        if not work.is_wanted():
            raise Unwanted("Nobody waits for this any more.")
        is_long = time.perf_counter() - work.since >= SLICE
        place.give_way(to_equals=is_long)
        if is_long:
            work.since = time.perf_counter()


class Work(Generic[T]):
    """What is known, and whether it is all there is to know."""

    def __init__(self, name: Hashable, make: Make[T]) -> None:
        self.name, self.make = name, make
        kept: tuple[T | None, bool] = KEPT.at_hand(("work", name)) or (None, False)
        self.latest, self.is_whole = kept
        self.since = 0.0
        """When it last came before others; by `time.perf_counter`, in s."""
        self.error: Exception | None = None
        self.ended = Event()
        """It does not go on: it is whole, it failed, or nobody waits for it."""
        self.followers: list[Follower[T]] = []

    def is_wanted(self) -> bool:
        """Whether somebody waits for it; else who asks from now on begins it anew."""
        now = time.perf_counter()
        with _lock:
            is_wanted = any(each.is_there(now) for each in self.followers)
            if not is_wanted:
                self._leave()
            return is_wanted

    def _leave(self) -> None:
        if _going_on.get(self.name) is self:
            del _going_on[self.name]

    def run(self) -> None:
        """Go on until it is whole or nobody wants it; what is known then is kept."""
        place = Place(device_line().steps, WORK)
        _running.set((self, place))
        try:
            values = self.make(self.latest)
            while not self.is_whole and self.is_wanted():
                with place.held():
                    self.since = time.perf_counter()
                    value = next(values, None)
                if value is None:
                    self.is_whole = True
                else:
                    self.latest = value
        except Unwanted:
            pass  # what is known stays so
        except Exception as error:  # whoever waits for it is told
            self.error = error
        finally:
            if self.latest is not None:
                kept = (self.latest, self.is_whole)
                KEPT.put(("work", self.name), kept, bytes_of(kept))
            with _lock:
                self._leave()
            self.ended.set()


@dataclass(eq=False)
class Follower(Generic[T]):
    """A session that waits for a piece of work."""

    work: Work[T]
    seen: float = field(default_factory=time.perf_counter)
    """When the page asked for it last."""
    known: T | None = None
    """What was known when it began to wait."""
    n_charged: int = 0
    """Runs, for texts that were read since then."""
    is_stopped: bool = False
    """Whether this session has stopped waiting."""
    why: str = ""
    """What stopped it, where nobody did."""

    is_open: Callable[[], bool] = lambda: True
    """Whether the session has a browser."""

    def is_there(self, now: float) -> bool:
        """Whether somebody looks; now: by `time.perf_counter`, in s."""
        return now - self.seen < (GONE if self.is_open() else CLOSED)

    def look(self) -> None:
        """Say that it is still waited for."""
        self.seen = time.perf_counter()

    def stop(self) -> None:
        """Wait no longer; the work ends after its step if nobody else waits."""
        self.is_stopped = True
        with _lock:
            if self in self.work.followers:
                self.work.followers.remove(self)


def follow(
    name: Hashable, make: Make[T], is_open: Callable[[], bool] = lambda: True
) -> Follower[T]:
    """Wait for the work of this name, together with whoever does; it begins where nobody does.

    is_open: whether the session that waits has a browser.
    """
    with _lock:
        going_on = cast("Work[T] | None", _going_on.get(name))
        work = Work(name, make) if going_on is None else going_on
        follower = Follower(work, known=work.latest, is_open=is_open)
        work.followers.append(follower)
        if work.is_whole:
            work.ended.set()
        elif going_on is None:
            _going_on[name] = work
            Thread(target=work.run, name="long work", daemon=True).start()
    return follower
