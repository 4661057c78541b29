"""Places to work at: the line for a device, its steps, and one batch for several texts."""

import atexit
import time
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from functools import partial
from logging import getLogger
from threading import Event, Lock
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

from torch import Tensor, nn

from transformer.decoding.method import Hypothesis, Model, Search
from transformer.decoding.shared_batch import OnStep, Run, SharedBatch, alone
from transformer.device import (
    DeviceError,
    LostDevice,
    OutOfMemory,
    choose_device,
    device_error,
    free,
)
from viz.run.cache import CACHE
from viz.run.settings import uses_cpu_instead

# Places to work at, for threads: who waits goes by rank, then by who came first.

Tell = Callable[[int], object]
"""Told how many are before somebody who waits; what it raises ends the waiting."""
EVERY = 0.5
"""Seconds between two times that who waits is told."""
PATIENCE = 1.0
"""Seconds after which rank counts no more: nobody waits for ever."""
END, ENTERED, PREVIEW, WORK, IDLE = -1, 0, 1, 2, 3
"""Ranks: the end of the process, texts that were entered, texts that are being typed, work that
goes on for long, and work that nobody waits for: its rank counts however long it takes."""


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

    @property
    def n_free(self) -> int:
        return self._n_free

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
        is_late = self._clock() - each.since > self.patience and each.rank != IDLE
        return 0 if is_late else each.rank


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


# The line for a device: one step of one piece of work at a time, in the order of their ranks.

LONGEST_STEP = 5.0
"""Seconds that the end of the process waits for."""


@dataclass(frozen=True)
class DeviceLine:
    """Two lines: one for each step, and one for whole texts that share no batch."""

    steps: Line = field(default_factory=Line)
    """The line of steps: the batch of each model, one text that shares none, and long work."""
    texts: Line = field(default_factory=lambda: Line(patience=10.0))
    """The line of texts that share no batch."""


_lock_device_line = Lock()
_lines: defaultdict[str, DeviceLine] = defaultdict(DeviceLine)


def device_line(model: nn.Module | None = None) -> DeviceLine:
    """The one of the device that a model is on; None: of the device that models are loaded to."""
    weights = () if model is None else model.parameters()
    weight = next((each for each in weights if not each.is_meta), None)  # others lie on disk
    device = choose_device() if weight is None else weight.device
    with _lock_device_line:
        return _lines[str(device)]


@atexit.register
def _end() -> None:
    """Let nobody take a step any more: a thread within torch aborts a process that ends."""
    deadline = time.monotonic() + LONGEST_STEP

    def give_up(_: int) -> None:
        if time.monotonic() > deadline:
            raise TimeoutError

    with _lock_device_line:
        lines = list(_lines.values())
    for line in lines:
        with suppress(TimeoutError):
            line.steps.enter(END, give_up)


# The steps of long work: each is taken when it is its turn, and a long one gives way.

T = TypeVar("T")
SLICE = 0.25
"""Seconds for which a piece of work takes its steps before others of its kind take theirs."""


class Steps:
    """The steps of one piece of work on a device.

    place: where it waits. check: raises where nobody waits for it any more. on_wait: told None
    once it waits no longer.
    """

    def __init__(
        self,
        place: Place,
        check: OnStep | None = None,
        on_wait: Callable[[int | None], object] | None = None,
    ) -> None:
        self._place, self._check, self._on_wait = place, check, on_wait
        self._since = 0.0
        """The time at which it last came before others; by `time.perf_counter`, in s."""
        self._has_waited = False
        """True: it waited until rank counted no more, and then all others wait for its slice. Else
        texts that are written without a pause would let it take one step a second."""

    def of(self, values: Iterator[T]) -> Iterator[T]:
        """The same values, none of them None: each is computed while the place is held."""
        while True:
            with self.one():
                value = next(values, None)
            if value is None:
                return
            yield value

    @contextmanager
    def one(self) -> Iterator[None]:
        """While a step is taken."""
        with self._place.held():
            self._since = time.perf_counter()
            self._go_on()
            yield

    def give_way(self) -> None:
        """Within a step: let texts that were entered go first. Raises what `check` does."""
        if self._check is not None:
            self._check()
        start = time.perf_counter()
        is_long = start - self._since >= SLICE
        if self._has_waited and not is_long:
            return
        self._place.give_way(to_equals=is_long)
        self._go_on()
        now = time.perf_counter()
        is_late = now - start >= self._place.line.patience
        self._has_waited = is_late and self._place.rank != IDLE
        if is_long or self._has_waited:
            self._since = now

    def _go_on(self) -> None:
        if self._on_wait is not None:
            self._on_wait(None)


# A search that shares no batch: one at a time on a device, and for a while at a time.

LONGEST = 1.0
"""Seconds after which a text that is not done lets the next one of its rank go on."""


def by_itself(
    model: Model,
    search: Search,
    source: Tensor,
    check: OnStep | None,
    line: DeviceLine,
    rank: int,
    on_wait: Callable[[int | None], object] | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> list[Hypothesis]:
    """Run a search step by step, in line. Raises as the search, `check` and `on_wait` do.

    check: called before each step, and while it waits. on_wait: told every half a second how many
    texts are before it, while it waits for its first step or for the next one.
    """

    def tell(n_before: int) -> None:
        if check is not None:
            check()
        if on_wait is not None:
            on_wait(n_before)

    text, step = Place(line.texts, rank, tell), Place(line.steps, rank)
    began = 0.0

    def before_a_step() -> None:
        nonlocal began
        if check is not None:
            check()
        is_long = clock() - began >= LONGEST
        if is_long or text.line.is_wanted(rank):
            step.leave()
            text.give_way(to_equals=is_long)
            step.enter()
            began = clock() if is_long else began
        else:
            step.give_way()

    with text.held(), step.held():
        began = clock()
        return alone(model, search, source, before_a_step)


# One batch for texts that the same model decodes at a time; entered texts go before previews.
#
# What can share no batch, as texts under edits, is stepped by itself: see `viz.run.line`.
# All steps on a device, and recordings, take turns.

OnWait = Callable[[int | None], object]
"""Told how many are before somebody who waits; None: its steps are taken."""

_lock_batches = Lock()
_batches: "WeakKeyDictionary[nn.Module, SharedBatch]" = WeakKeyDictionary()


def batch_of(model: nn.Module) -> SharedBatch:
    """The one of this model, which all who use it share."""
    with _lock_batches:
        if model not in _batches:
            pace = Place(device_line(model).steps)
            _batches[model] = SharedBatch(model, pace=pace)  # type: ignore[arg-type]
        return _batches[model]


@dataclass(frozen=True)
class Runner:
    """Has what somebody asked for computed when it is its turn: steps of a decoding, recordings."""

    rank: int = ENTERED
    on_wait: OnWait | None = None
    check: OnStep | None = None
    """Raises where nobody waits for it any more; it does not wait itself."""
    aside: Callable[[], AbstractContextManager[object]] = nullcontext
    """Around what others do, or wait for."""
    hear: Callable[[Any], object] | None = None
    """Told what there is between two steps; what it raises ends them."""

    def run(self, model: nn.Module) -> Run:
        """Return the callable that takes the steps over the model, for `decode`."""
        return partial(self._run, model)

    @contextmanager
    def turn(self, model: nn.Module) -> Iterator[None]:
        """While something is computed with the model that is one piece.

        Raises what `check` and `on_wait` do. Who has a turn asks for no other: it would wait for
        itself.
        """
        with self.aside(), self._place(model).held():
            if self.on_wait is not None:
                self.on_wait(None)
            yield

    def steps(self, model: nn.Module | None = None) -> Steps:
        """Return the steps of long work with the model; None: on the device for new models."""
        return Steps(self._place(model), self.check, self.on_wait)

    def _place(self, model: nn.Module | None) -> Place:
        tells = self.check is not None or self.on_wait is not None
        return Place(device_line(model).steps, self.rank, self._tell if tells else None)

    def _tell(self, n_before: int) -> None:
        if self.check is not None:
            self.check()
        if self.on_wait is not None:
            self.on_wait(n_before)

    def _run(
        self,
        model: nn.Module,
        begin: Callable[[], Search],
        source: Tensor,
        on_step: OnStep | None,
        n_rows: int,
        own: Model | None = None,
    ) -> list[Hypothesis]:
        check = self.check or on_step
        with self.aside():
            if own is not None:
                line = device_line(model)
                return by_itself(own, begin(), source, check, line, self.rank, self.on_wait)
            batch = batch_of(model)
            return batch.run(begin, source, check, n_rows, None, self.rank, self.on_wait)


entered = Runner()
"""The runner of a text that somebody entered, and waits for."""


def place_in_line(n_before: int) -> str:
    """Say where in the line somebody is."""
    if not n_before:
        return "Yours is the next one."
    return f"{n_before:d} {'people' if n_before > 1 else 'person'} before you."


# A device that fails: its memory is freed, and the CPU does the work if it may.
#
# Whatever fails in the app comes here, wherever it was: a load, a run, a preview, a picture.

MOST = 1000
"""Texts that are remembered to need the CPU; those that failed first are tried again."""
LATER = "The CPU computed this instead, more slowly."
_LOG = getLogger(__name__)


@dataclass
class Failures:
    """The failures of the device: texts that it could not do, or its loss."""

    texts: OrderedDict[tuple[str, str], str] = field(default_factory=OrderedDict)
    """(checkpoint, text) -> why."""
    lost: str | None = None
    lock: Lock = field(default_factory=Lock)


FAILURES = Failures()


def device_for(checkpoint: str, text: str) -> str | None:
    """Return the device for `load_checkpoint`; None: it chooses."""
    return None if why_on_cpu(checkpoint, text) is None else "cpu"


def why_on_cpu(checkpoint: str, text: str) -> str | None:
    """Say why the CPU computed this, in a sentence; None where nothing failed."""
    why = FAILURES.lost or FAILURES.texts.get((checkpoint, text))
    return None if why is None else f"{why} {LATER}"


def relieved(error: Exception) -> DeviceError | None:
    """Name a failure of the device, and free its memory; None: it is none."""
    failure = device_error(error)
    if failure is not None:
        if isinstance(failure, (OutOfMemory, LostDevice)):
            CACHE.clear()  # what is kept lies on that device, too
        free(error)
        _LOG.warning("%s", failure)
    return failure


def may_repeat(error: Exception, text: str, *checkpoints: str | None) -> bool:
    """Tell whether to run it once more: the device failed, and from now on the CPU does this."""
    failure = relieved(error)
    names = [name for name in checkpoints if name is not None]
    if failure is None or not uses_cpu_instead() or choose_device().type == "cpu":
        return False
    with FAILURES.lock:
        if FAILURES.lost or all((name, text) in FAILURES.texts for name in names):
            return False
        if isinstance(failure, LostDevice):
            FAILURES.lost = str(failure)
        FAILURES.texts.update(dict.fromkeys([(name, text) for name in names], str(failure)))
        while len(FAILURES.texts) > MOST:
            FAILURES.texts.popitem(last=False)
    return True


def repeated(checkpoint: str, text: str, run: Callable[[], T]) -> T:
    """Return its result; where the device fails and the settings allow it, that of the CPU.

    Raises as it does, and DeviceError.
    """
    try:
        return run()
    except Exception as error:
        if not may_repeat(error, text, checkpoint):
            raise
    return run()
