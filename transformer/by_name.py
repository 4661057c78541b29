"""A checkpoint by its name: what the public functions take in the place of an open one."""

import os
from collections.abc import Callable
from functools import lru_cache, wraps
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar, cast

from transformer.checkpoint import Checkpoint
from transformer.fingerprint import version_of
from transformer.formats.opening import load_checkpoint, locate

P = ParamSpec("P")
T = TypeVar("T")


def by_name(
    function: Callable[Concatenate[Checkpoint, P], T],
) -> Callable[Concatenate[Checkpoint | str | Path, P], T]:
    """The same function, which opens a name or a path in the place of its checkpoint."""

    @wraps(function)
    def opening(checkpoint: Any, *args: Any, **named: Any) -> T:  # by keyword, too
        return function(opened(checkpoint), *args, **named)

    return cast("Callable[Concatenate[Checkpoint | str | Path, P], T]", opening)


def opened(checkpoint: Any) -> Any:
    """Open what is a name or a path; anything else is returned as it is.

    The latest one is kept, until its files or a setting change. Raises CheckpointError.
    """
    if not isinstance(checkpoint, str | Path):
        return checkpoint
    path = locate(checkpoint).absolute()
    settings = frozenset(each for each in os.environ.items() if each[0].startswith("HEADSCOPE_"))
    return _latest(path, version_of(path), settings)


@lru_cache(maxsize=1)  # a model may take most of a device
def _latest(path: Path, version: int, settings: frozenset[tuple[str, str]]) -> Checkpoint:
    return load_checkpoint(path)
