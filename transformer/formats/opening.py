"""Opening a checkpoint of any format: the first format that a path fits."""

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from difflib import get_close_matches
from functools import cache
from itertools import islice
from logging import getLogger
from pathlib import Path
from typing import Concatenate, ParamSpec, TypeVar

import torch
from torch import nn

from transformer.checkpoint import (
    LEFT_OUT,
    Checkpoint,
    CheckpointError,
    Description,
    checkpoints_folder,
    shipped_path,
)
from transformer.device import choose_device, device_trouble, usual_state
from transformer.discover import discover
from transformer.files.foreign_text import reason, some_of
from transformer.files.regular_file import natural
from transformer.files.tensor_files import spread
from transformer.files.weights_file import way_of
from transformer.formats.format import Format
from transformer.hugging_face.adapters.settings import adapted_path, parts_of
from transformer.hugging_face.hub import from_hub, is_hub_name
from transformer.inputs import PATH, checks
from transformer.refusal import Refusal, quoted

# Finding a checkpoint: by a path, a shipped name, or a name on Hugging Face's hub.

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


# Paths that are no checkpoint, and where one is: around a file, or within a folder.

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


# Opening a checkpoint of any format: the first format that a path fits.

P = ParamSpec("P")
T = TypeVar("T")
_LOG = getLogger(__name__)
ALIKE = 0.75
"""The share of letters that a name has in common with a shipped one that may be meant."""


class Unforeseen(CheckpointError):
    """Damage that no format has a sentence for: the fuzzer counts it as a fault."""


@usual_state()
@checks(weights=PATH.or_none, adapter=PATH.or_none)
def load_checkpoint(
    path: str | Path,
    device: str | torch.device | None = None,
    weights: str | None = None,
    adapter: str | Path | None = None,
) -> Checkpoint:
    """Open a checkpoint of any format: a folder of ours, of Hugging Face's, a file of weights.

    path: a path; the name of a shipped checkpoint, as "en-de"; as a text also a name on Hugging
        Face's hub, as "Helsinki-NLP/opus-mt-en-de", which is fetched where it is not here.
    device: the place where it runs, as torch spells it; None chooses CUDA, else MPS, else CPU.
    weights: another weights file of the folder, such as "snapshots/000100.safetensors".
    adapter: the folder of a LoRA adapter of a model of Hugging Face's, which is added to its
        weights (Hu et al. 2022, section 4.1); "path::adapter" as the path is the same.

    Returns a `Checkpoint` with the whole model in memory. Raises CheckpointError for what is not
    there or cannot be opened, and DeviceError for a device that is not here, or has too little
    memory.
    """
    if not isinstance(path, str | Path):
        what = type(path).__name__ if isinstance(path, nn.Module) else quoted(path)
        raise CheckpointError(
            f"A checkpoint is opened by its path, and {what} is none: record(module, inputs) takes "
            "a torch module as it is, and from_module makes a checkpoint of it."
        )
    chosen = choose_device(device)
    path = locate(path).absolute()  # so that "." has a name too
    path = path / weights if weights else path
    if adapter is not None:
        path = adapted_path(path, locate(adapter).absolute())
    return format_of(path).load(path, chosen)


def describe_checkpoint(path: Path) -> Description:
    """Describe a checkpoint before its weights are read. Raises CheckpointError."""
    return format_of(path).describe(path)


def format_of(path: Path) -> Format:
    """The format that a path is in. Raises CheckpointError where it is none that is known."""
    format = find_format(path)
    if format is None:
        if sentence := what_instead(path, _opens):
            raise CheckpointError(sentence)
        titles = "; ".join(each.title for each in _formats())
        if not is_there(path):
            for near in get_close_matches(path.name, _shipped(), 1, ALIKE):
                raise CheckpointError(f"{path.absolute()} is not there: did you mean {near}?")
            raise CheckpointError(f"{path.absolute()} is not there. What opens: {titles}.")
        raise CheckpointError(f"{path.name} {_fault(path)}. What opens: {titles}.")
    return format


def _shipped() -> list[str]:
    try:
        return [each.name for each in checkpoints_folder().iterdir() if each.is_dir()]
    except OSError:  # it is not here, or may not be looked at
        return []


def find_format(path: Path) -> Format | None:
    """The same; None where it is none that is known, and nothing around it is looked at."""
    return next((each for each in _formats() if each.fits(path)), None)


def _opens(path: Path) -> bool:
    try:
        return find_format(path) is not None
    except CheckpointError:  # it cannot be looked at
        return False


@cache
def _formats() -> Sequence[Format]:
    """Every known format, which raises nothing but a Refusal, however damaged a file is."""
    return [
        replace(
            each,
            fits=_refusing(each.fits),
            describe=_refusing(each.describe),
            load=_refusing(each.load),
            files=_refusing(each.files),
            contents=each.contents and _refusing(each.contents),
        )
        for each in discover("transformer.formats", "FORMAT").values()
    ]


def _refusing(read: Callable[Concatenate[Path, P], T]) -> Callable[Concatenate[Path, P], T]:
    """The same, for which whatever it raises is a damaged file: one must not harm the others."""

    def guarded(path: Path, /, *args: P.args, **named: P.kwargs) -> T:
        try:
            with device_trouble():
                return read(path, *args, **named)
        except Refusal:
            raise
        except (OSError, MemoryError) as error:
            why = getattr(error, "strerror", None) or "there is not enough memory"
            raise CheckpointError(f"{path.name} cannot be read: {why}.") from error
        except Exception as error:
            _LOG.error("%s is damaged in a way that is new", path.name, exc_info=error)
            raise Unforeseen(
                f"{path.name} is damaged: reading it ends in {type(error).__name__}, "
                f"{reason(error)}."
            ) from error

    return guarded


def _fault(path: Path) -> str:
    """Say why no format fits, after the path's name."""
    if next(path.glob("snapshots/*/config.json"), None):
        return "is a folder of the hub's cache: open one of its snapshots/"
    if path.is_dir() and not any(path.iterdir()):
        return "is not a checkpoint: the folder is empty"
    if path.suffix or not path.is_file():
        return "is not a checkpoint"
    return (
        "is not a checkpoint: without an ending to its name only what torch.save wrote is known, "
        "and other weights end in .safetensors or .npz"
    )
