"""Lookups on disk that a run of a page makes once: a list of checkpoints asks for each of them.

All of a run is of the same files, then, whatever is written meanwhile.
"""

from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from pathlib import Path
from typing import Any, ParamSpec, TypeVar, cast

from transformer.checkpoint import shipped_path
from transformer.versions import version_of

P = ParamSpec("P")
T = TypeVar("T")
_RESULTS: ContextVar[dict[Hashable, Any] | None] = ContextVar("results of this run", default=None)


@contextmanager
def one_run() -> Iterator[None]:
    """Remember what is looked up, for this thread and as long as the block."""
    token = _RESULTS.set({})
    try:
        yield
    finally:
        _RESULTS.reset(token)


def once_a_run(look: Callable[P, T]) -> Callable[P, T]:
    """The same function of hashable arguments, which looks once in a run; elsewhere each time."""

    @wraps(look)
    def find(*args: P.args, **named: P.kwargs) -> T:
        results = _RESULTS.get()
        if results is None:
            return look(*args, **named)
        key = (look, args, *named.items())
        if key not in results:
            results[key] = look(*args, **named)
        return cast(T, results[key])

    return find


@once_a_run
def place_now(checkpoint: str) -> tuple[Path, int]:
    """Find a checkpoint, by its name or path, and the version of its files."""
    path = shipped_path(checkpoint)
    return path, version_of(path)
