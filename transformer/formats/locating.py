"""Finding a checkpoint: by a path, a shipped name, or a name on Hugging Face's hub."""

import os
from pathlib import Path

from transformer.checkpoint import shipped_path
from transformer.hugging_face.adapters.path import adapted_path, parts_of
from transformer.hugging_face.hub import from_hub, is_hub_name

FOLDER = "checkpoints"
"""The folder of the shipped ones in a clone. Documents name it, wherever they are followed."""


def locate(text: str | Path, may_fetch: bool | None = None) -> Path:
    """Return the path of a checkpoint, or of both parts of BASE::ADAPTER.

    A folder at the path itself comes first, then a shipped checkpoint ("en-de", and as in a clone
    "checkpoints/en-de"), then a repository of the hub, "organisation/model". may_fetch: None:
    where a text is given, as a Path is one of this machine. What is nowhere keeps its path, for a
    format to say so. Raises CheckpointError where the hub does not give it.
    """
    fetches = isinstance(text, str) if may_fetch is None else may_fetch
    parts = parts_of(Path(os.path.expanduser(text)))  # noqa: PTH111  what it cannot read stays
    if parts is None:
        return _located(text, fetches)
    base, folder = (_located(str(each), fetches).absolute() for each in parts)
    return adapted_path(base, folder)


def _located(text: str | Path, fetches: bool) -> Path:
    """The same of one part, which is not cut again: there may be any number of :: in it."""
    path = Path(os.path.expanduser(text))  # noqa: PTH111  what it cannot read stays as it is
    is_ours = path.parts[:1] == (FOLDER,)
    name = Path(*path.parts[1:]) if is_ours else path
    shipped = shipped_path(str(name))
    has_shipped = bool(name.parts) and ".." not in name.parts and is_there(shipped)
    if is_there(path) and not (has_shipped and path.is_file()):
        return path
    if has_shipped:
        return shipped
    if fetches and not is_ours and is_hub_name(str(text)):
        return from_hub(str(text))
    return path


def is_there(path: Path) -> bool:
    """Tell whether there is something at a path; what is none, as it is too long, has nothing."""
    try:
        return path.exists()
    except (OSError, ValueError):
        return False
