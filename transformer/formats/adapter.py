"""LoRA adapters as peft saves them, with their bases: an adapter's folder, or BASE::ADAPTER.

An adapter names the model that it was trained on. Of that name a folder is taken that lies beside
the adapter, among the checkpoints, in the folders that may be opened, or in the hub's cache; never
one elsewhere, unless somebody spells it: the name is a stranger's.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import torch

from transformer.checkpoint import (
    Checkpoint,
    CheckpointError,
    Description,
    allowed_folders,
    checkpoints_folder,
)
from transformer.files.foreign_text import clean
from transformer.formats import hugging_face
from transformer.formats.format import Format
from transformer.hugging_face.adapters.reading import WEIGHTS
from transformer.hugging_face.adapters.settings import (
    ADAPTER,
    SEPARATOR,
    Settings,
    adapted_path,
    parts_of,
    read_settings,
    refusal,
)
from transformer.hugging_face.hub import cached
from transformer.hugging_face.loading import has_weights
from transformer.inspection.tensor_statistics import Contents


class Unconfirmed(CheckpointError):
    """An adapter whose base is elsewhere: `path` spells both, for who agrees."""

    def __init__(self, message: str, path: Path) -> None:
        super().__init__(message)
        self.path = path


def fits(path: Path) -> bool:
    """A folder of an adapter without weights of a model, or a base and an adapter in one path."""
    return parts_of(path) is not None or _stands_alone(path)


def describe(path: Path) -> Description:
    """Describe the model that they make. Raises CheckpointError."""
    return hugging_face.describe(*_parts(path))


def load(path: Path, device: torch.device) -> Checkpoint:
    """Open the base and add the adapter to its weights. Raises CheckpointError."""
    base, folder = _parts(path)
    if parts_of(path):  # the adapter may be spelled from where the process began
        path = adapted_path(base, folder)
    return replace(hugging_face.load(base, device, folder), path=path)


def files(path: Path) -> Sequence[Path]:
    """The files of the base, where there is one, and those of the adapter."""
    try:
        base, folder = _parts(path)
    except CheckpointError:
        base, folder = None, path
    own = [each for name in (ADAPTER, WEIGHTS) if (each := folder / name).exists()]
    return [*(hugging_face.files(base) if base else ()), *own]


def contents(path: Path) -> Contents:
    """The base's tensors as the adapter changes them. Raises CheckpointError."""
    return hugging_face.contents(*_parts(path))


def pair_of(path: Path) -> tuple[Path, Path] | None:
    """Return a base and itself with an adapter, one of which a path is; None: it has no other.

    Raises CheckpointError where its base is not here, and Unconfirmed where it is elsewhere.
    """
    if fits(path):
        return _parts(path)[0], path
    adapted = own_adapter(path)
    return (path, adapted) if adapted else None


def own_adapter(path: Path) -> Path | None:
    """Spell a base with the adapter that lies in its own folder; None where none does."""
    inside = (path / ADAPTER).is_file() and _is_base(path)
    return adapted_path(path, path) if inside else None


def _parts(path: Path) -> tuple[Path, Path]:
    """Return the folders of the base and of the adapter. Raises CheckpointError."""
    base, folder = parts_of(path) or (None, path)
    if base is None:
        return _base_of(read_settings(folder)), folder
    for each in (base, folder):
        if not each.exists():
            raise CheckpointError(f"{each.absolute()} is not there.")
    if not (folder / ADAPTER).exists():
        raise CheckpointError(f"{folder.name} is not a LoRA adapter: it has no {ADAPTER}.")
    if not _is_base(base):
        raise CheckpointError(
            f"{base.name} takes no adapter: only models of Hugging Face's do, with their weights."
        )
    return base.absolute(), folder.absolute()


def _stands_alone(path: Path) -> bool:
    return (path / ADAPTER).is_file() and not has_weights(path)


def _is_base(path: Path) -> bool:
    try:
        return hugging_face.fits(path) and has_weights(path)
    except OSError:  # a name that is too long, or a folder that is closed
        return False


def _base_of(settings: Settings) -> Path:
    """Return the folder of the base that an adapter names. Raises CheckpointError."""
    folder, name = settings.folder, Path(settings.base)
    ways = f"open both as BASE{SEPARATOR}{folder.name}, each by its path"
    if not settings.base:
        raise refusal(folder, f"a LoRA adapter that names no base: {ways}")
    allowed = allowed_folders()
    for place in (folder.parent, checkpoints_folder(), *(allowed or ())):
        near = place / name.name
        if name.name not in ("", "..") and _is_base(near) and not near.is_symlink():
            return near
    snapshot = cached(settings.base, settings.revision)
    if snapshot and (allowed is None or _lies_in(snapshot, allowed)) and _is_base(snapshot):
        return snapshot
    if name.is_absolute() and allowed is None and _is_base(name):
        path = adapted_path(name, folder)
        why = f"its base is {clean(name, 300)}, which it names itself: if you agree, open {path}"
        raise Unconfirmed(f"{folder.name}: {why}.", path)
    if name.is_absolute() and _lies_in(name, allowed or ()) and _is_base(name):
        return name
    why = f"a LoRA adapter, whose base {clean(name, 300)} is not here"
    raise refusal(folder, f"{why}: put that model's folder beside it, or {ways}")


def _lies_in(path: Path, folders: Iterable[Path]) -> bool:
    """Tell whether a path leads into one of these, wherever its links lead."""
    whole = path.resolve()
    return any(whole.is_relative_to(each) for each in folders)


FORMAT = Format(
    name="adapter",
    title="a folder of a LoRA adapter of Hugging Face's peft, whose base is here",
    fits=fits,
    describe=describe,
    load=load,
    files=files,
    contents=contents,
)
