"""Paths that are no checkpoint, and where one is: around a file, or within a folder."""

from collections.abc import Callable
from itertools import islice
from pathlib import Path

from transformer.checkpoint import LEFT_OUT
from transformer.files.foreign_text import some_of
from transformer.files.natural_order import natural
from transformer.files.other_tools import way_of
from transformer.files.spread import spread

MOST_LOOKED = 200
"""Folders within one that are looked at."""
NAMED = 4


def what_instead(path: Path, opens: Callable[[Path], bool]) -> str:
    """Say what a path is and what to open instead, as a sentence; "": nothing better is known."""
    if (path / LEFT_OUT).is_file():
        return (
            f"{path.name} is not installed: it lies in checkpoints/{path.name} of a clone of the "
            "repository."
        )
    if parts := spread(path):
        return f"{path.name} cannot be opened as it is: {parts}."
    if path.is_file() and (way := way_of(path)):
        return f"{path.name} {way}."
    if path.is_file() and opens(path.parent):
        return f"{path.name} is a file of the folder {path.parent.name}: open that."
    inside = [each.relative_to(path) for each in _folders(path) if opens(each)]
    if not inside:
        return ""
    names = some_of(sorted(inside, key=lambda each: natural(str(each))), NAMED)
    return f"{path.name} is not a checkpoint itself, and holds {names}: open one of these."


def _folders(path: Path) -> list[Path]:
    """Folders in one, as an archive leaves one in another, or a training several; no links."""
    if not path.is_dir():
        return []
    near = [each for pattern in ("*", "*/*") for each in islice(path.glob(pattern), MOST_LOOKED)]
    whole = path.resolve()
    own = (each for each in near if each.is_dir() and each.resolve() == whole / _within(each, path))
    return [each for each in own if not _is_aside(_within(each, path))]


def _within(folder: Path, path: Path) -> Path:
    return folder.relative_to(path)


def _is_aside(path: Path) -> bool:
    """Tell whether a system keeps it for itself: .cache, __MACOSX."""
    return any(part.startswith((".", "__")) for part in path.parts)
