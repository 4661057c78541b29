"""Loading the weights of a model of the library: where they go, and in which precision."""

import json
import os
import re
import shutil
import weakref
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from logging import ERROR, getLogger
from pathlib import Path
from tempfile import mkdtemp
from types import EllipsisType
from typing import Any

import torch
from torch import Tensor, nn

from transformer.checkpoint import CheckpointError
from transformer.device import (
    PRECISION,
    DeviceError,
    asked_dtype,
    free_memory,
    in_gib,
    inference_dtype,
    precision_name,
)
from transformer.extras import require
from transformer.files.foreign_file import read_json
from transformer.files.foreign_text import clean, some_of
from transformer.files.regular_file import files_of
from transformer.files.tensor_files import SafetensorsFiles, open_pickles, spread
from transformer.files.tensors import Stored, TensorSource, Unread
from transformer.files.torch_file import ADVICE
from transformer.files.weights_file import ENDINGS, way_of
from transformer.refusal import quoted

# The place of a model's weights, and their precision: what fits the device decides.
#
# A model that does not fit is divided by the library's own `device_map`, which accelerate
# follows.

DEVICE_MAP, OFFLOAD = "HEADSCOPE_DEVICE_MAP", "HEADSCOPE_OFFLOAD"
WAYS = ("auto", "balanced", "balanced_low_0", "sequential")
"""The library's ways of dividing a model by itself."""
ROOM = 0.9
"""Share of the free memory that weights may take: a text needs some, too."""
Map = str | dict[str, Any]


@dataclass(frozen=True)
class Placement:
    """The device or devices of a model's weights, and their precision."""

    device: torch.device
    dtype: torch.dtype
    device_map: Map | None = None
    """A way or a map of the library's; None: all of it is on the device."""
    notes: tuple[str, ...] = ()

    @contextmanager
    def options(self) -> Iterator[dict[str, Any]]:
        """Arguments of `from_pretrained`; see `keep_until_gone` for the folder that it fills."""
        if self.device_map is None:
            yield {}
            return
        require("large", f"unset {DEVICE_MAP}")
        getLogger("accelerate").setLevel(ERROR)  # it says what was asked for
        offload = offload_folder()
        folder = None if offload is None else mkdtemp(prefix="headscope-", dir=offload)
        try:
            yield {"device_map": self.device_map, "offload_folder": folder}
        except BaseException as error:
            if folder is not None:
                shutil.rmtree(folder, ignore_errors=True)
            if "offload_folder" in str(error):
                raise CheckpointError(
                    f"The devices here are too small for the weights: {OFFLOAD}=FOLDER leaves on "
                    "disk what does not fit, which is slow."
                ) from error
            raise


def keep_until_gone(model: nn.Module, folder: str | None) -> None:
    """Remove a folder of weights left on disk once the model is gone, or the process ends."""
    if folder is not None:
        weakref.finalize(model, shutil.rmtree, folder, ignore_errors=True)


def placed(
    name: str, model: nn.Module, stored: Mapping[str, Stored], device: torch.device
) -> Placement:
    """Decide it, before a value is read. Raises CheckpointError and DeviceError.

    name: of the checkpoint. model: without values. stored: its tensors, as they were saved. device:
    the one that was chosen.
    """
    n = sum(each.numel() for each in model.parameters())
    dtype, device_map, free = inference_dtype(device), asked_map(), free_memory(device)
    room, notes = ROOM * free, []
    if asked_dtype() is None and dtype == torch.float32 and n * dtype.itemsize > room:
        dtype = _half(stored)
        notes.append(
            f"In half precision ({precision_name(dtype)}): its weights take {in_gib(4 * n)} in "
            f"float32, and {in_gib(free)} were free. {PRECISION}=float32 opens it in float32 all "
            "the same."
        )
    n_bytes = n * dtype.itemsize
    if device_map is None and n_bytes > room:
        if device.type == "cpu" and offload_folder() is None:
            raise CheckpointError(
                f"{name} takes {in_gib(n_bytes)} in {precision_name(dtype)}, and {in_gib(free)} of "
                f"memory are free: {_ways_out(dtype)}."
            )
        device_map = "auto"
        notes.append(
            f"Divided over the devices that are here: its weights take {in_gib(n_bytes)}, and "
            f"{in_gib(free)} were free on {device}."
        )
    return Placement(device, dtype, device_map, tuple(notes))


def asked_map() -> Map | None:
    """HEADSCOPE_DEVICE_MAP: a way of the library's, or a JSON object of modules and devices.

    None: not set. Raises DeviceError.
    """
    setting = os.environ.get(DEVICE_MAP, "")
    if not setting or setting in WAYS:
        return setting or None
    try:
        values = json.loads(setting)
    except ValueError:
        values = None
    if not isinstance(values, dict) or not values:
        raise DeviceError(
            f"{DEVICE_MAP} must be {', '.join(WAYS)} or a JSON object of modules and devices, not "
            f"{quoted(setting)}."
        )
    return values


def offload_folder() -> str | None:
    """HEADSCOPE_OFFLOAD: a folder for weights that fit no memory; None: not set.

    Raises DeviceError.
    """
    setting = os.environ.get(OFFLOAD)
    if setting and not Path(setting).is_dir():
        raise DeviceError(f"{OFFLOAD} must be a folder, and {quoted(setting)} is none.")
    return setting or None


def entrance(model: Any, device: torch.device) -> torch.device:
    """The device that a model reads its token ids on. device: where nothing divides it."""
    devices = getattr(model, "hf_device_map", {}).values()
    fast = [each for each in devices if str(each) not in ("cpu", "disk")]
    return torch.device(fast[0]) if fast else device if not devices else torch.device("cpu")


def _half(stored: Mapping[str, Stored]) -> torch.dtype:
    """The half precision that it was saved in; else bfloat16, where nothing grows too large."""
    n_f16 = sum(each.n_values for each in stored.values() if each.dtype == "F16")
    n_all = sum(each.n_values for each in stored.values())
    return torch.float16 if 2 * n_f16 > n_all else torch.bfloat16


def _ways_out(dtype: torch.dtype) -> str:
    half = f"{PRECISION}=bfloat16 takes half, and " if dtype == torch.float32 else ""
    return f"{half}{OFFLOAD}=FOLDER leaves on disk what does not fit, which is slow"


# The files of a Hugging Face folder that hold its weights, whole or in parts.

WHOLE, PICKLED = "model.safetensors", "pytorch_model.bin"
FILES = (".safetensors", ".bin")
"""The endings of files of weights, whole ones and parts."""
OTHER_NAMES = (*FILES, ".pt", ".pth", ".ckpt")
"""The endings of files that are read where none of the usual names is there."""
NO_MODEL = (
    *("training_args", "optimizer", "scheduler", "rng_state", "scaler", "random_states"),
    *("adapter_model", "tokenizer"),
)
"""Beginnings of the names of files that a training leaves beside the weights."""
_PART = re.compile(r"(?P<stem>.+)-\d{5}-of-(?P<n>\d{5})(?P<ending>\.safetensors|\.bin)")
_BOTH = (WHOLE, PICKLED)
MOST_PARTS = 2_000
"""Parts of a model whose index is missing."""
LARGEST_INDEX = 2**27
"""Bytes of an index that are read: a name of every tensor of the largest models is less."""


def open_weights(path: Path) -> TensorSource:
    """The tensors of a folder, read as weights only. Raises CheckpointError."""
    names = _names(path)
    if not names:
        raise CheckpointError(f"{path.name}: {_missing(path)}.")
    is_safe = names[0].endswith(FILES[0])
    source = SafetensorsFiles(path, names) if is_safe else open_pickles(path, names)
    if not source.stored and source.faults.keys().isdisjoint(names):
        raise CheckpointError(f"{path.name}: {names[0]} holds no tensors under names: {ADVICE}.")
    return source


def _missing(path: Path) -> str:
    """Say that no weights can be read, and what to do with those that are there."""
    if parts := spread(path):
        return f"the weights are not one file: {parts}"
    for file in files_of(path, ENDINGS):
        return f"the weights are missing, {WHOLE} or {PICKLED}: {file.name} {way_of(file)}"
    several = [file.name for file in _others(path)]
    if several:
        return (
            f"the weights are missing, {WHOLE} or {PICKLED}, and which of {some_of(several, 3)} "
            f"is read, nothing says: call that one as it should be"
        )
    return f"the weights are missing: {WHOLE} or {PICKLED}"


def has_weights(path: Path) -> bool:
    """Tell whether a folder has the files that `open_weights` reads, by their names."""
    names = (each for file in _BOTH for each in (file, f"{file}.index.json"))
    return any((path / name).is_file() for name in names)


def weights_files(path: Path) -> list[Path]:
    """The files of a folder that `open_weights` reads. Raises CheckpointError."""
    return [path / name for name in _names(path)]


def is_indexed(path: Path) -> bool:
    """Tell whether an index names the files of weights, whatever they are called."""
    return any((path / f"{file}.index.json").is_file() for file in _BOTH)


def is_usual(name: str) -> bool:
    """Tell whether it is a name that the library gives a file of weights, or a part."""
    part = _PART.fullmatch(name)
    return name in _BOTH or bool(part and part["stem"] + part["ending"] in _BOTH)


def _names(path: Path) -> list[str]:
    """List those of the usual names; else parts without their index; else the only file."""
    for file in _BOTH:
        if (path / file).is_file():
            return [file]
        if names := _parts(path, f"{file}.index.json"):
            return names
    others = [] if spread(path) else _others(path)
    return _set_of(others) or ([others[0].name] if len(others) == 1 else [])


def _others(path: Path) -> list[Path]:
    return [each for each in files_of(path, OTHER_NAMES) if not each.name.startswith(NO_MODEL)]


def _set_of(files: list[Path]) -> list[str]:
    """All parts of the one model that these are parts of, also those that are not there."""
    parts = [match for file in files if (match := _PART.fullmatch(file.name))]
    kinds = {(match["stem"], match["n"], match["ending"]) for match in parts}
    if len(kinds) != 1 or len(parts) < len(files):
        return []
    ((stem, n, ending),) = kinds
    whole = range(1, min(int(n), MOST_PARTS) + 1)
    return [f"{stem}-{i:05}-of-{n}{ending}" for i in whole]


def _parts(path: Path, index: str) -> list[str]:
    """The files that an index names; none where there is no index. Raises CheckpointError."""
    file = path / index
    if not file.is_file():
        return []
    values = read_json(file, LARGEST_INDEX)
    try:
        parts = sorted(set(values["weight_map"].values()))
    except (KeyError, TypeError, AttributeError) as error:
        raise CheckpointError(f"{path.name}: {index} is not an index of weights.") from error
    outside = [part for part in parts if not isinstance(part, str) or Path(part).name != part]
    if outside or not parts:
        problem = (
            f"names {str(outside[0])[:60]!r}, no file of this folder" if outside else "is empty"
        )
        raise CheckpointError(f"{path.name}: {index} {problem}.")
    return parts


# Values of weights, looked at as they are read: none of them is NaN, or too large to be kept.


@dataclass(frozen=True)
class CheckedValues:
    """A tensor that is refused where a model of this precision could not hold it."""

    checkpoint: str
    name: str
    values: Unread
    dtype: torch.dtype

    def __getitem__(self, all: EllipsisType, /) -> Tensor:
        """Raises CheckpointError. One pass over them, with nothing beside: `isfinite` takes ten
        times as long."""
        values = self.values[...]
        if not values.is_floating_point() or not values.numel():
            return values
        low, high = values.aminmax()
        largest = max(-float(low), float(high))
        if not largest < float("inf") or float(low) != float(low):
            raise CheckpointError(
                f"{self.checkpoint}: {clean(self.name)} holds NaN or infinite values."
            )
        if largest > torch.finfo(self.dtype).max:
            name = str(self.dtype).removeprefix("torch.")
            raise CheckpointError(
                f"{self.checkpoint}: {clean(self.name)} holds {largest:.3g}, which {name} cannot: "
                f"{PRECISION}=bfloat16 or float32 can."
            )
        return values


def checked_values(
    checkpoint: str, tensors: Mapping[str, Unread], dtype: torch.dtype
) -> dict[str, CheckedValues]:
    """Each of them. checkpoint: its name. dtype: that they will have."""
    return {name: CheckedValues(checkpoint, name, it, dtype) for name, it in tensors.items()}
