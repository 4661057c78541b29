"""Jobs and engines, and workers that may die: another one does what is left."""

import hashlib
import socket
import traceback
from collections import Counter, deque
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Protocol, TypeVar

from transformer.corpus.shards import Shard, versions
from transformer.device import PRECISION, asked_dtype, precision_name
from transformer.fingerprint import fingerprint
from transformer.refusal import Refusal, quoted

# Jobs and engines: a job does one shard at a time, an engine decides where and when.


class EngineError(Refusal, RuntimeError):
    """Shards that an engine could not have done; the message says what to do."""


@dataclass(frozen=True)
class Done:
    """The report of a job on a shard that is done."""

    number: int
    lines: int
    """The number of lines that were done, without those that are left out."""
    seconds: Mapping[str, float] = field(default_factory=dict)
    """Seconds by stage: "decode", "record", "metrics", "write"."""
    left_out: tuple[str, ...] = ()
    """Sentences that say which lines were left out, and why."""
    result: Any = None
    """Something small that is handed back, of a job that writes no part."""


Work = Callable[[Shard], Done]


class Job(Protocol):
    """The work on every shard: a frozen dataclass of plain values, since it is sent away."""

    @property
    def checkpoint(self) -> Path:
        """The checkpoint that it opens, by a path that holds wherever it runs."""
        ...

    def open(self) -> Work:
        """Open the checkpoint, once a process; the function does a shard and writes its part.

        The same shard gives the same part, whoever asks and how often. Raises Refusal.
        """
        ...


@dataclass(frozen=True)
class Resources:
    """The processes, threads and machines that an engine may use."""

    jobs: int = 1
    """Processes that work at a time."""
    threads: int = 1
    """Threads of torch in each; sums in another order may differ in their last bits."""
    address: str = ""
    """HOST:PORT of a cluster that runs, for engines that know any."""


ALONE = Resources()


class Engine(Protocol):
    """A place where shards run."""

    @property
    def name(self) -> str: ...

    @property
    def title(self) -> str:
        """A line for --help."""
        ...

    def run(
        self, job: Job, shards: Sequence[Shard], resources: Resources = ALONE
    ) -> Iterator[Done]:
        """Have all shards done, and tell of each when it is, in any order.

        Whoever stops asking, or an interrupt, ends the work: parts that are there stay. Raises
        what the job raises, and EngineError.
        """
        ...


# Workers that may die: another one does what is left, and a shard that two died of is named.

MOST_DEATHS = 2
"""Workers that may die of one shard, or before they have opened the checkpoint, until work ends."""


@dataclass(frozen=True)
class Death:
    """A worker that ended without a report."""

    why: str


Report = Done | Death | BaseException | None
"""The report of a worker: None once it is ready, then one on each shard."""
W = TypeVar("W", bound=Hashable)


class Crew(Protocol[W]):
    """Workers somewhere."""

    def start(self) -> W:
        """Start a worker: it opens the checkpoint, and reports that it is ready."""
        ...

    def give(self, worker: W, shard: Shard) -> None:
        """Give a shard to a worker that is ready."""
        ...

    def report(self) -> tuple[W, Report]:
        """Wait for the next report."""
        ...

    def end(self) -> None:
        """End all workers at once."""
        ...


def do_all(crew: Crew[W], shards: Sequence[Shard], n_workers: int) -> Iterator[Done]:
    """Have all shards done by so many workers. Raises what they raise, and EngineError."""
    left = deque(shards)
    at_work: dict[W, Shard | None] = {}
    deaths: Counter[int | None] = Counter()
    try:
        for _ in range(min(n_workers, len(shards))):
            at_work[crew.start()] = None
        while at_work:
            worker, report = crew.report()
            shard = at_work.pop(worker)
            if isinstance(report, Death):
                number = None if shard is None else shard.number
                deaths[number] += 1
                if deaths[number] == MOST_DEATHS:
                    raise EngineError(_dead(shard, report))
                if shard is not None:
                    left.appendleft(shard)
                if left:
                    at_work[crew.start()] = None
                continue
            if isinstance(report, BaseException):
                raise report
            if left:
                at_work[worker] = following = left.popleft()
                crew.give(worker, following)
            if report is not None:
                yield report
    finally:
        crew.end()


def _dead(shard: Shard | None, death: Death) -> str:
    what = "before they had opened the checkpoint" if shard is None else f"over {shard.span}"
    return (
        f"Two processes ended {what} ({death.why}), as where memory runs out: take fewer --jobs. "
        "The same command goes on from here."
    )


def attempt(act: Callable[[], Done | None]) -> Report:
    """Return what it returns, or the error that it raises, in a form that can be sent away."""
    try:
        return act()
    except Refusal as error:
        return error if _is_plain(error) else EngineError(str(error))
    except Exception as error:
        # Whoever raises it anew is another process, whose traceback says nothing of this one.
        return RuntimeError(f"a worker failed: {error!r}\n{_traceback(error)}")


def _is_plain(error: Refusal) -> bool:
    """Tell whether the class takes the message alone, as where an error is made of its message."""
    make: Any = type(error)
    try:
        return str(make(str(error))) == str(error)
    except TypeError:
        return False


def _traceback(error: BaseException) -> str:
    return "".join(traceback.format_exception(error))


# Marks of a machine: all those that do shards of a job need the same, or results would differ.


def marks_of(checkpoint: Path) -> dict[str, str]:
    """Return the versions, the code, the weights and the precision that a job would run with here.

    The precision is that which is asked for. Raises Refusal where that is none.
    """
    dtype = asked_dtype()
    own = {"code": _code(), "checkpoint": fingerprint(checkpoint)}
    return {**versions(), **own, PRECISION: precision_name(dtype) if dtype else "not set"}


@cache
def _code() -> str:
    """Return the SHA-256 of our own modules that compute something."""
    total = hashlib.sha256()
    room = Path(__file__).parents[1]
    for file in sorted(room.rglob("*.py")):
        total.update(f"{file.relative_to(room)}\n".encode() + file.read_bytes())
    return total.hexdigest()


def check_machine(here: Mapping[str, str], there: Mapping[str, str]) -> None:
    """Raise EngineError where what is compared of the machine that runs this is another there."""
    for name, value in here.items():
        if there[name] != value:
            raise EngineError(
                f"{socket.gethostname()} has {name} {quoted(there[name], 20)}, and this machine "
                f"{quoted(value, 20)}: results would differ. Bring both to the same."
            )
