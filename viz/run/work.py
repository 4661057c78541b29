"""Work on a study: in a thread of its own, for all sessions that wait; it can be stopped.

Steps of all of them take turns: however many are asked for, one runs at a time, while no text that
somebody entered has steps to take.
"""

import time
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass, field
from threading import Event, Lock, Thread
from typing import Any, Generic, cast

from transformer.refusal import Refusal
from viz.run.device_line import WORK, device_line
from viz.run.kept import KEPT, bytes_of
from viz.run.line import Place
from viz.run.study import Study, Value

GONE, CLOSED = 90.0, 10.0
"""Seconds after which nobody looks any more: a page in the background may ask once a minute, one
that was closed, or lost its connection, asks no more."""
SLICE = 0.25
"""Seconds for which a piece of work takes its steps before others of its kind take theirs."""

_lock = Lock()
_going_on: dict[Study[Any], "Work[Any]"] = {}
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


@dataclass(frozen=True, eq=False)
class Result(Generic[Value]):
    """What is kept of a study."""

    value: Value
    is_whole: bool
    """Whether it is all there is to know."""


class Work(Generic[Value]):
    """A study that goes on, from what is kept of it."""

    def __init__(self, study: Study[Value]) -> None:
        self.study = study
        kept: Result[Value] | None = KEPT.at_hand(study)
        self.latest: Value | None = kept.value if kept else None
        self.is_whole = kept is not None and kept.is_whole
        self.since = 0.0
        """When it last came before others; by `time.perf_counter`, in s."""
        self.error: Exception | None = None
        self.ended = Event()
        """It does not go on: it is whole, it failed, or nobody waits for it."""
        self.followers: list[Follower[Value]] = []

    def is_wanted(self) -> bool:
        """Whether somebody waits for it; else who asks from now on begins it anew."""
        now = time.perf_counter()
        with _lock:
            is_wanted = any(each.is_there(now) for each in self.followers)
            if not is_wanted:
                self._leave()
            return is_wanted

    def _leave(self) -> None:
        if _going_on.get(self.study) is self:
            del _going_on[self.study]

    def run(self) -> None:
        """Go on until it is whole or nobody wants it; what is known then is kept."""
        place = Place(device_line().steps, WORK)
        _running.set((self, place))
        try:
            values = self.study.run(self.latest)
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
                KEPT.put(self.study, Result(self.latest, self.is_whole), bytes_of(self.latest))
            with _lock:
                self._leave()
            self.ended.set()


@dataclass(eq=False)
class Follower(Generic[Value]):
    """A session that waits for a study."""

    work: Work[Value]
    seen: float = field(default_factory=time.perf_counter)
    """When the page asked for it last."""
    before: Value | None = None
    """The value from which it began to wait."""
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


def follow(study: Study[Value], is_open: Callable[[], bool] = lambda: True) -> Follower[Value]:
    """Wait for a study, together with whoever does; it begins where nobody does.

    is_open: whether the session that waits has a browser.
    """
    with _lock:
        going_on = cast("Work[Value] | None", _going_on.get(study))
        work = Work(study) if going_on is None else going_on
        follower = Follower(work, before=work.latest, is_open=is_open)
        work.followers.append(follower)
        if work.is_whole:
            work.ended.set()
        elif going_on is None:
            _going_on[study] = work
            Thread(target=work.run, name="study", daemon=True).start()
    return follower


def latest(study: Study[Value]) -> Value | None:
    """Its value as far as it goes now; None where nothing is kept of it."""
    with _lock:
        going_on = cast("Work[Value] | None", _going_on.get(study))
    if going_on is not None:
        return going_on.latest
    kept: Result[Value] | None = KEPT.at_hand(study)
    return kept.value if kept else None


def finish(study: Study[Value]) -> Value:
    """Its value once it is whole: for a figure, a shell, a notebook. Raises what it raises.

    Who has the device's place asks for none: it would wait for itself.
    """
    follower = follow(study)
    try:
        while not follower.work.ended.wait(CLOSED):
            follower.look()
    finally:
        follower.stop()
    if follower.work.error is not None:
        raise follower.work.error
    return cast(Value, follower.work.latest)
