"""Opening a checkpoint of any format: the first format that a path fits."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from logging import getLogger
from pathlib import Path
from typing import Concatenate, ParamSpec, TypeVar

import torch

from transformer.checkpoint import Checkpoint, CheckpointError, Description
from transformer.device import choose_device, device_trouble
from transformer.discover import discover
from transformer.files.foreign_text import reason
from transformer.formats.format import Format
from transformer.formats.locating import is_there, locate
from transformer.formats.what_instead import what_instead
from transformer.hugging_face.adapters.path import adapted_path
from transformer.refusal import Refusal, quoted

P = ParamSpec("P")
T = TypeVar("T")
_LOG = getLogger(__name__)


class Unforeseen(CheckpointError):
    """Damage that no format has a sentence for: the fuzzer counts it as a fault."""


def load_checkpoint(
    path: str | Path,
    device: str | torch.device | None = None,
    weights: str | None = None,
    adapter: str | Path | None = None,
) -> Checkpoint:
    """Open a checkpoint of any format: a folder of ours, of Hugging Face's, a file of weights.

    path: a path; the name of a shipped checkpoint, as "en-de"; as a text also a name on Hugging
    Face's hub, as "Helsinki-NLP/opus-mt-en-de", which is fetched where it is not here.
    device: where to run; None chooses CUDA, else MPS, else CPU. weights: another weights file of
    the folder, such as "snapshots/000100.safetensors". adapter: the folder of a LoRA adapter of a
    model of Hugging Face's, which is added to its weights; "path::adapter" as the path is the same.
    Raises CheckpointError, or DeviceError for a device that is not here, or has too little memory.
    """
    if not isinstance(path, str | Path):
        raise CheckpointError(f"A checkpoint is opened by its path, and {quoted(path)} is none.")
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
            raise CheckpointError(f"{path.absolute()} is not there. What opens: {titles}.")
        raise CheckpointError(f"{path.name} {_fault(path)}. What opens: {titles}.")
    return format


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
