"""The time that a page takes, part by part: HEADSCOPE_TIMES=yes writes it into the log."""

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

from viz.run.settings import logs_times

LOGGER = logging.getLogger("headscope.times")


@dataclass
class _Run:
    """A run of the script: seconds by part, in the order in which the parts began."""

    seconds: dict[str, float] = field(default_factory=dict)
    inside: list[str] = field(default_factory=list)
    """Names of the parts that are going on."""


_RUN: ContextVar[_Run | None] = ContextVar("times of this run", default=None)


@contextmanager
def timed_run(title: str) -> Iterator[None]:
    """Time a whole run of a page, and log one line of it where the setting asks for that.

    The line has milliseconds of wall time: of the run, then of each part, those inside another
    one written below it as `page/grid`. No text that people typed is in it.
    """
    if not logs_times():
        yield
        return
    run, start = _Run(), time.perf_counter()
    token = _RUN.set(run)
    try:
        yield
    finally:
        _RUN.reset(token)
        total = time.perf_counter() - start
        parts = ", ".join(f"{name} {1000 * it:.1f}" for name, it in run.seconds.items())
        LOGGER.warning("%s %.1f ms: %s", title, 1000 * total, parts or "nothing was drawn")


@contextmanager
def timed(part: str) -> Iterator[None]:
    """Add the time of a block to its part of the run that is timed; nothing where none is."""
    run = _RUN.get()
    if run is None:
        yield
        return
    run.inside.append(part)
    name, start = "/".join(run.inside), time.perf_counter()
    run.seconds.setdefault(name, 0.0)
    try:
        yield
    finally:
        run.inside.pop()
        run.seconds[name] += time.perf_counter() - start
