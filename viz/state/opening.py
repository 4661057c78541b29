"""Checkpoints that a person may open beside the shipped ones, and where they are.

On the person's own machine that is any folder. A server that others can reach opens nothing
unless its operator names folders; links that lead out of these are not followed.
"""

import os
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import chain
from pathlib import Path

from transformer import CheckpointError
from transformer.checkpoint import allowed_folders, is_allowed
from transformer.formats.adapter import own_adapter, pair_of
from transformer.formats.locating import is_there, locate
from transformer.formats.opening import find_format, format_of
from transformer.hugging_face.adapters.path import SEPARATOR, adapted_path, parts_of
from viz.run.settings import is_public

MOST = 200
"""Checkpoints that one folder of folders may list."""
OFF = (
    "Opening paths is off: others can reach this server. Its operator may allow folders with "
    "HEADSCOPE_FOLDERS."
)


NOT_HERE = (
    "This server opens checkpoints by path in folders of its operator's choice, and there is none "
    "at this path."
)
"""Said of everything else alike: of what lies outside, leads outside, or does not exist."""


def can_open() -> bool:
    """Tell whether anything may be opened by its path."""
    return allowed_folders() is not None or not is_public()


def find(text: str, may_fetch: bool = True) -> Sequence[Path]:
    """The checkpoints that a path or a name on the hub stands for, a folder of folders being many.

    may_fetch: whether a name may be looked up on the hub. Raises CheckpointError in a sentence.
    """
    if not can_open():
        raise CheckpointError(OFF)
    near = allowed_folders() is None
    path = _either(text, partial(_located, may_fetch=may_fetch) if near else _among_allowed)
    check_allowed([path])
    paths = _checkpoints(path)
    for each in paths:
        check_allowed([each, *format_of(each).files(each)])
    return paths


def find_at_start(text: str) -> Sequence[Path]:
    """The same for what the operator named: no folder is closed to them."""
    return _checkpoints(_either(text, partial(_located, may_fetch=True)))


def check_allowed(paths: Iterable[Path]) -> None:
    """Raise CheckpointError for a path outside the allowed folders, wherever its links lead."""
    parts = chain.from_iterable(parts_of(each) or (each,) for each in paths)
    if not all(map(is_allowed, parts)):
        raise CheckpointError(NOT_HERE)


def is_checkpoint(path: Path) -> bool:
    """Tell whether some format fits."""
    try:
        return find_format(path) is not None
    except (CheckpointError, OSError):
        return False


def _either(text: str, locate: Callable[[str], Path]) -> Path:
    """The path of what was typed, or of both parts of BASE::ADAPTER. Raises CheckpointError."""
    base, _, folder = text.rpartition(SEPARATOR)
    try:
        return locate(text)
    except CheckpointError:
        if not base or not folder:
            raise
    return adapted_path(locate(base), locate(folder))


def _plain(text: str) -> str:
    """Leave out the quotes and spaces that come with a path from elsewhere."""
    return text.strip().strip("\"'")


def _located(text: str, may_fetch: bool) -> Path:
    """The absolute path of what was typed. Raises CheckpointError where there is nothing."""
    name = _plain(text)
    for each in (text, name):  # a name may end in a space
        path = locate(each, may_fetch and each == name).absolute()
        if each and all(map(is_there, parts_of(path) or (path,))):
            return path
    raise CheckpointError(f"There is no {name[:200]} on this machine: type the path of a folder.")


def _among_allowed(text: str) -> Path:
    """The path of what was typed, if it lies in an allowed folder. Nothing outside is looked at.

    Raises CheckpointError.
    """
    folders = allowed_folders() or ()
    for each in (text, _plain(text)):  # a name may end in a space
        path = Path(os.path.normpath(each))
        try:
            if any(path.is_relative_to(folder) for folder in folders) and path.exists():
                return path
        except (OSError, ValueError):
            pass
    raise CheckpointError(NOT_HERE)


def _checkpoints(path: Path) -> Sequence[Path]:
    """The path itself, or what lies in it. Raises CheckpointError where that is nothing.

    An adapter's base follows it, and a base is followed by itself with the adapter in its folder.
    """
    if is_checkpoint(path):
        return list(dict.fromkeys([path, *(pair_of(path) or ())]))
    try:
        inside = sorted(path.iterdir()) if path.is_dir() else []
    except OSError as error:
        raise CheckpointError(f"{path.name} cannot be read: {error.strerror}.") from error
    paths = [each for each in inside[: 10 * MOST] if is_checkpoint(each)][:MOST]
    if not paths:
        format_of(path)  # says what opens
    return [*paths, *filter(None, map(own_adapter, paths))]
