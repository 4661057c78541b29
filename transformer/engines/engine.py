"""Jobs and engines: a job does one shard at a time, an engine decides where and when."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from transformer.corpus.shards import Shard
from transformer.refusal import Refusal


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
