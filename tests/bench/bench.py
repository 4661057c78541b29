"""What a bench declares of itself, and how two runs are compared on a busy machine."""

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # a browser is not needed by most
    from tests.bench.places import Places


@dataclass(frozen=True)
class Row:
    """One figure: a ratio to a baseline that ran in turn with it."""

    name: str
    ratio: float | None
    """None: there is nothing to compare with, and baseline says why."""
    baseline: str
    goal: float | None = None
    """The ratio that is still good; None: no goal was set."""


@dataclass(frozen=True)
class Bench:
    """A named group of figures."""

    name: str
    run: Callable[[bool], list[Row]]
    """Give them back. Its argument: whether to be quick, as small as shows that the bench works."""


@dataclass(frozen=True)
class BrowserBench:
    """The same of what is painted in a browser."""

    name: str
    run: "Callable[[bool, Places], list[Row]]"


def paired_ratio(run: Callable[[], object], baseline: Callable[[], object], pairs: int) -> float:
    """Median over pairs of CPU time of run / CPU time of baseline, the two in turn.

    CPU time of the process, because wall time tells of what else the machine does; pairs, because
    its clock rate drifts; the order alternates, because the second of two finds a warm cache.
    """
    run(), baseline()
    ratios = []
    for i in range(pairs):
        first, second = (run, baseline) if i % 2 else (baseline, run)
        seconds = {first: _cpu_seconds(first)}
        seconds[second] = _cpu_seconds(second)
        ratios.append(seconds[run] / seconds[baseline])
    return statistics.median(ratios)


def _cpu_seconds(run: Callable[[], object]) -> float:
    start = time.process_time()
    run()
    return time.process_time() - start
