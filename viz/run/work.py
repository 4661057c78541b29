"""Work on a study, once for all sessions that wait for it; it can be stopped, and goes on."""

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import partial
from math import inf
from threading import Event, Lock, Thread
from typing import Any, ClassVar, Generic, TypeVar, cast

from transformer.refusal import Refusal
from viz.components.kit.picture import NothingLeft
from viz.exhibits.exhibit import Exhibit
from viz.run.cache import CACHE, bytes_of
from viz.run.line import IDLE, WORK, Line, OnWait, Place, Runner

# A study: whatever takes time, as a value that says what is asked and how it comes about.

Value = TypeVar("Value")


class Study(ABC, Generic[Value]):
    """A frozen dataclass of what is asked; equal ones are the same study, for all sessions.

    It is its own key in the cache. So it holds requests and options, and nothing that is computed.
    """

    rank: ClassVar[int] = WORK
    """Its place before or behind others that need the device: see `viz.run.line`."""

    is_kept: ClassVar[bool] = True
    """False: its value is only for those who wait for it now, and is in no cache."""

    @abstractmethod
    def run(self, before: Value | None, runner: Runner) -> Iterator[Value]:
        """Values that each say all that is known so far; `before` is the last of an earlier run.

        runner: gives it the device, step by step: `yield from runner.steps(model).of(values)`.
        Answers are asked for outside of its steps. Raises Refusal.
        """

    def progress(self, value: Value) -> tuple[int, int]:
        """Return the number of parts that are done, and that of all."""
        return 1, 1

    def n_read(self, value: Value) -> int:
        """Texts that a model has read for it, beside the first: a visitor is charged for some."""
        return 0

    def n_bytes(self, value: Value) -> int:
        """Return the bytes that a value takes, without models."""
        return bytes_of(value)


# Work on a study, once for all sessions that wait for it; it can be stopped, and goes on.

GONE, CLOSED = 90.0, 10.0
"""Seconds after which nobody looks any more: a page in the background may ask once a minute, one
that was closed, or lost its connection, asks no more."""

EVERY = 0.1
"""Seconds between two looks of a study that waits for another at whether it is wanted itself."""

_lock = Lock()
_going_on: dict[Study[Any], "Work[Any]"] = {}
_begins_none: ContextVar[bool] = ContextVar("finish begins none", default=False)


class Unwanted(Refusal):
    """Nobody waits any more."""


class NotAtHand(LookupError):
    """A study is not whole that was to be. No Refusal: a page would draw itself without it."""


Aside = Callable[[], AbstractContextManager[object]]
"""Around what others do, or wait for: the place of a work is free meanwhile."""
Order = Callable[["Work[Any]"], AbstractContextManager[Aside]]
"""Lets a work wait for its place, and stay there while it goes on; then it raises Unwanted where
nobody waits for it any more."""


def at_once(work: "Work[Any]") -> AbstractContextManager[Aside]:
    """The usual order: a study begins when it is asked for, and only its steps wait."""
    return nullcontext(nullcontext)


@dataclass(frozen=True, eq=False)
class Part(Generic[Value]):
    """The value of a study that is not whole."""

    value: Value


class Work(Generic[Value]):
    """A study that goes on, from what is kept of it."""

    def __init__(self, study: Study[Value], order: Order = at_once) -> None:
        self.study, self._order = study, order
        entry = CACHE.at_hand(study)
        self.is_whole = entry is not None and not isinstance(entry, Part)
        """True: the latest value is all there is to know."""
        self.latest: Value | None = entry.value if isinstance(entry, Part) else entry
        self.draft: Any = None
        """The result of the last step, where a value takes many."""
        self.n_before: int | None = None
        """The number of those that come first, while it waits for its turn."""
        self.began = time.perf_counter()
        self.error: Exception | None = None
        self.ended = Event()
        """It does not go on: it is whole, it failed, or nobody waits for it."""
        self.followers: list[Follower[Value]] = []
        self._is_ending = False
        """True: a step heard that nobody waits."""

    @property
    def was_left(self) -> bool:
        """Tell whether it ended because nobody waited for it."""
        return self.ended.is_set() and not self.is_whole and self.error is None

    def result(self) -> Value:
        """The value of a work that has come to its end. Raises what the study raised."""
        if self.error is not None:
            raise self.error
        return cast(Value, self.latest)

    def is_wanted(self) -> bool:
        """Tell whether somebody waits for it; else who asks from now on begins it anew."""
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
        try:
            with self._order(self) as aside:
                self._go_on(Runner(self.study.rank, self._wait, self.check, aside, self._hear))
        except Unwanted:
            pass  # what is known stays so
        except Exception as error:  # whoever waits for it is told
            self.error = error
        finally:
            if (last := self.latest) is not None and self.study.is_kept:
                entry = last if self.is_whole else Part(last)
                CACHE.put(self.study, entry, self.study.n_bytes(last))
            with _lock:
                self._leave()
                self.ended.set()
                followers, self.followers = self.followers, []
            for each in followers:
                each.on_over()

    def _go_on(self, runner: Runner) -> None:
        self.check()
        for value in self.study.run(self.latest, runner):
            if not self._is_ending:  # else a step took that for a refusal of its own
                self.latest = value
            self.check()
        self.is_whole = True

    def _wait(self, n_before: int | None) -> None:
        self.n_before = n_before
        for each in tuple(self.followers):
            if each.on_wait is not None:
                each.on_wait(n_before)

    def _hear(self, draft: object) -> None:
        self.draft, self.n_before = draft, None
        self.check()

    def check(self) -> None:
        """Raise Unwanted where nobody waits for it any more."""
        if self._is_ending or not self.is_wanted():
            self._is_ending = True
            raise Unwanted("Nobody waits for this any more.")


@dataclass(eq=False)
class Follower(Generic[Value]):
    """A session that waits for a study."""

    work: Work[Value]
    is_open: Callable[[], bool] = lambda: True
    """Tell whether the session has a browser."""
    on_over: Callable[[], object] = lambda: None
    """Called once, in any thread, when there is nothing to wait for any more."""
    on_wait: OnWait | None = None
    """Told who comes first, where another study waits for this one."""
    seen: float = field(default_factory=time.perf_counter)
    """The time when the page asked for it last."""
    before: Value | None = None
    """The value from which it began to wait."""
    n_charged: int = 0
    """Runs, for texts that were read since then."""
    is_stopped: bool = False
    """True: this session has stopped waiting."""
    why: str = ""
    """The reason why it stopped, where nobody stopped it."""
    is_asked_on: bool = False
    """True: the browser asks for its part again and again, until the whole app is drawn."""
    drawing_since: float = 0.0
    """The time when pictures of a part were begun; by `time.perf_counter`, in s."""
    took: float | None = None
    """The time that they took, in s; None until they are drawn."""

    @property
    def is_over(self) -> bool:
        """Tell whether there is nothing to wait for any more."""
        return self.is_stopped or self.work.ended.is_set()

    def is_there(self, now: float) -> bool:
        """Tell whether somebody looks; now: by `time.perf_counter`, in s."""
        return now - self.seen < (GONE if self.is_open() else CLOSED)

    def look(self) -> None:
        """Say that it is still waited for."""
        self.seen = time.perf_counter()

    def stop(self) -> None:
        """Wait no longer; the work ends after its step if nobody else waits."""
        self.is_stopped = True
        with _lock:
            if self not in self.work.followers:
                return
            self.work.followers.remove(self)
        self.on_over()


def follow(
    study: Study[Value],
    is_open: Callable[[], bool] = lambda: True,
    order: Order = at_once,
    on_over: Callable[[], object] = lambda: None,
) -> Follower[Value]:
    """Wait for a study, together with whoever does; it begins where nobody does.

    is_open: whether the session that waits has a browser. order: of a work that begins now.
    """
    follower, is_first = _joined(study, is_open, order, on_over)
    if is_first:
        Thread(target=follower.work.run, name="study", daemon=True).start()
    return follower


def finish(study: Study[Value], runner: Runner | None = None) -> Value:
    """Its value once it is whole: for a figure, a shell, a notebook. Raises what it raises.

    runner: of another study, which needs this one; where nobody waits for that one any more, this
    one isn't waited for either, and what `runner.check` raises is raised. Who has the device's
    place asks for none: it would wait for itself. Within `only_at_hand` it raises NotAtHand.
    """
    if _begins_none.get() and at_hand(study) is None:
        raise NotAtHand
    follower, is_first = _joined(study)
    follower.seen = inf
    follower.on_wait = runner.on_wait if runner is not None else None
    check = runner.check if runner is not None else None
    try:
        if is_first and check is None:
            follower.work.run()
        elif is_first:  # in a thread of its own: this one looks whether anybody waits for it
            Thread(target=follower.work.run, name="study", daemon=True).start()
        while not follower.work.ended.wait(None if check is None else EVERY):
            assert check is not None
            check()
    finally:
        follower.stop()
    return follower.work.result()


@contextmanager
def only_at_hand() -> Iterator[None]:
    """Let `finish` run nothing in this thread: it raises NotAtHand for what isn't whole."""
    token = _begins_none.set(True)
    try:
        yield
    finally:
        _begins_none.reset(token)


def _joined(
    study: Study[Value],
    is_open: Callable[[], bool] = lambda: True,
    order: Order = at_once,
    on_over: Callable[[], object] = lambda: None,
) -> tuple[Follower[Value], bool]:
    """Add a follower; True: nobody works on the study yet."""
    with _lock:
        going_on = cast("Work[Value] | None", _going_on.get(study))
        work = Work(study, order) if going_on is None else going_on
        follower = Follower(work, is_open, on_over, before=work.latest)
        is_first = going_on is None and not work.is_whole
        if work.is_whole:
            work.ended.set()
            on_over()
        else:
            work.followers.append(follower)
            _going_on[study] = work
    return follower, is_first


def at_hand(study: Study[Value]) -> Value | None:
    """Its value where it is whole and kept, else None."""
    entry = CACHE.at_hand(study)
    return None if isinstance(entry, Part) else cast("Value | None", entry)


def keep_at_hand(work: Work[Any]) -> None:
    """Put a whole value back that the cache has let go meanwhile: a page still shows it."""
    study, value = work.study, work.latest
    if work.is_whole and study.is_kept and at_hand(study) is None:
        CACHE.put(study, value, study.n_bytes(value))


def n_going_on() -> int:
    """Count the studies that go on, of all sessions; several may wait for one. Those that nobody
    waits for keep nobody from anything.
    """
    return sum(study.rank != IDLE for study in tuple(_going_on))


def latest(study: Study[Value]) -> Value | None:
    """Its value as far as it goes now; None where nothing is kept of it."""
    with _lock:
        going_on = cast("Work[Value] | None", _going_on.get(study))
    return going_on.latest if going_on is not None else Work(study).latest


# A policy of who asks again and again: the newest study replaces the one before.


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


# An exhibit that takes time: it is made of a study's value, and made anew as that grows.


@dataclass(frozen=True, eq=False)
class Growth(Generic[Value]):
    """An exhibit of a study: a screen shows it as far as it is, and all else waits for the end."""

    title: str
    """Its name, while the text of the page is not written; empty: it is of another text."""
    study: Study[Value]
    exhibit: Callable[[Value], Exhibit]
    """Return the exhibit of a value. Raises NothingLeft where there is nothing to see in it."""
    is_main: bool = True
    """True: everybody looks at it, as at such an exhibit."""
    is_enough: Callable[[Value], bool] = lambda value: False
    """Tell whether what follows on a page may begin with a value, though it grows on."""


def finished(exhibits: Mapping[str, Exhibit | Growth[Any]]) -> dict[str, Exhibit]:
    """The same by name, each study run to its end. Raises what the studies raise."""
    whole = {}
    for name, each in exhibits.items():
        with suppress(NothingLeft):
            whole[name] = each.exhibit(finish(each.study)) if isinstance(each, Growth) else each
    return whole
