"""Workers that may die: another one does what is left, and a shard that two died of is named."""

import traceback
from collections import Counter, deque
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from transformer.corpus.shards import Shard
from transformer.engines.engine import Done, EngineError
from transformer.refusal import Refusal

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
