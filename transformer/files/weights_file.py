"""Files of weights from elsewhere, read without trusting them: nothing in them is ever executed."""

import argparse
import io
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import load, load_file
from torch import Tensor

from transformer.files.foreign_file import read_file, read_json
from transformer.files.foreign_text import clean, reason
from transformer.files.regular_file import (
    is_zip_file,
    read_of_checkpoint,
    require_of_checkpoint,
)
from transformer.files.tensors import (
    UNMAPPED,
    is_state,
    state_in,
    unwrapped,
    without_common,
    without_second,
)
from transformer.files.torch_file import ADVICE, fault_of, read_torch, refusing
from transformer.files.weights import Misfit, Tensors, Weights

# Files of weights from elsewhere, read without trusting them: nothing in them is ever executed.
#
# Tensors, numbers and texts are all that comes out. What would take more memory than the file can
# honestly need is refused before anything is unpacked.

SUFFIXES = (".pt", ".pth", ".ckpt", ".chkpt", ".npz", ".safetensors", ".bin")

SMALL = 1 << 30
"""Bytes that a small file may declare at most."""
UNPACKED, DECLARED = 50, 4
"""Times its own size that a small file, and any other, may unpack to: weights hardly shrink."""

DEEPEST = 8
"""Objects within objects of options."""
LARGEST_OPTIONS = 1 << 20
"""Bytes of a file of options."""
MOST_PARTS = 8192
"""Tensors and arrays in a file: a model of 100 layers has fewer, with its optimizer's."""

OPTIONS = ("model_args", "settings", "opt", "args", "hparams", "hyper_parameters", "config")
LIGHTNING = "model."
"""The prefix that Lightning puts before every name, if its module calls the model so."""


def read_weights(file: Path) -> Weights:
    """Whatever a file holds, by its suffix. Raises Misfit."""
    with refusing(file):
        require_of_checkpoint(file)
        size = file.stat().st_size
        _require_honest_zip(file, size)
        if file.suffix == ".npz":
            weights = _read_npz(file)
        else:
            is_safe = file.suffix == ".safetensors"
            loaded = load_file(file, backend=UNMAPPED) if is_safe else read_torch(file)
            weights = _unwrapped(loaded, file.name)
        _require_honest_tensors(weights.tensors, size)
    if not weights.tensors:
        raise Misfit(f"holds no tensors under names: {ADVICE}")
    return weights


def _read_npz(file: Path) -> Weights:
    """Arrays of numbers; Marian keeps its options among them, as text."""
    tensors: Tensors = {}
    options: dict[str, Any] = {}
    if not is_zip_file(file):  # numpy would take it for a pickle
        raise ValueError("")
    with np.load(file, allow_pickle=False) as arrays:
        for name in arrays.files:
            array = arrays[name]
            if name == "special:model.yml":
                options = _options(array.tobytes().decode("utf-8", "replace").rstrip("\0"))
            elif array.dtype.kind == "f":
                tensors[name] = torch.from_numpy(array.astype(np.float32))
    return Weights(tensors, options)


def _options(text: str) -> dict[str, Any]:
    """Read plain ones of Marian's options in YAML, whole numbers as such: no more is needed."""
    from transformer.files.yaml_file import yaml_pairs  # only here is PyYAML needed

    try:
        plain = {name: value for name, value, _ in yaml_pairs(text) if value is not None}
    except ValueError as error:
        raise Misfit(f"holds options that cannot be read: {reason(error)}") from error
    return {
        name: int(value) if value.isdecimal() and len(value) < 10 else value
        for name, value in plain.items()
    }


def read_options(file: Path) -> dict[str, Any]:
    """Read a YAML or JSON file: path -> a number, a truth, a text, None for null; lists as texts.

    Raises Misfit, and CheckpointError for what cannot be read.
    """
    if file.suffix == ".json":
        values = read_json(file, LARGEST_OPTIONS)
        if not isinstance(values, dict):
            raise Misfit(f"has settings in {file.name} that are not an object of JSON")
        return dict(_leaves(values))
    from transformer.files.yaml_file import yaml_leaves  # only here is PyYAML needed

    try:
        text = read_file(file, LARGEST_OPTIONS).decode("utf-8")
        return {path: _plain(value) for path, value in yaml_leaves(text)}
    except ValueError as error:
        raise Misfit(f"has settings in {file.name} that cannot be read: {reason(error)}") from error


def _leaves(values: dict[str, Any], path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield path and value of each plain value in an object of JSON."""
    for name, each in values.items():
        if isinstance(each, dict) and path.count(".") < DEEPEST:
            yield from _leaves(each, f"{path}{name}.")
        else:
            yield f"{path}{name}", clean(str(each)) if isinstance(each, dict | list) else each


def _plain(text: str) -> bool | int | float | str | None:
    """A YAML scalar as Python has it."""
    words: dict[str, bool | None] = {"true": True, "false": False, "null": None, "~": None}
    if text.lower() in words:
        return words[text.lower()]
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def _unwrapped(loaded: Any, file: str) -> Weights:
    """The state dict in what was saved, with the options beside it."""
    if not isinstance(loaded, dict):
        raise Misfit(f"holds no state dict but {type(loaded).__name__}; {ADVICE}")
    wrapped, notes = state_in(loaded, file)
    tensors = {str(name): value for name, value in wrapped.items() if _may_be_weights(value)}
    names = unwrapped(tensors)
    if all(name.startswith(LIGHTNING) for name in names):
        names = without_common(names)
    tensors = {name: tensors[was] for name, was in names.items()}
    shapes = {name: tuple(each.shape) for name, each in tensors.items()}
    first, others = without_second(shapes, file)
    tensors, notes = {name: tensors[name] for name in first}, (*notes, *others)
    if wrapped is not loaded and is_state(loaded.get("generator")):  # OpenNMT-py
        generator = loaded["generator"].items()
        tensors |= {f"generator.{name}": t for name, t in generator if isinstance(t, Tensor)}
    options: dict[str, Any] = {}
    for key in OPTIONS:
        inner = loaded.get(key)
        values = vars(inner) if isinstance(inner, argparse.Namespace) else inner
        if isinstance(values, dict):
            options = {k: v for k, v in values.items() if isinstance(v, _PLAIN)} | options
    return Weights(tensors, options, _vocabulary(loaded.get("vocab")), notes=notes)


_PLAIN = (bool, int, float, str)


def _may_be_weights(value: Any) -> bool:
    """A sparse tensor of other than floats is a buffer, as openai/whisper's code saves one."""
    if not isinstance(value, Tensor):
        return False
    return value.layout == torch.strided or value.is_floating_point()


def _vocabulary(saved: Any) -> dict[str, tuple[str, ...]]:
    """OpenNMT-py's: lists of pieces under "src" and "tgt"."""
    if not isinstance(saved, dict):
        return {}
    sides = {"source": saved.get("src"), "target": saved.get("tgt")}
    if not all(isinstance(side, list | tuple) for side in sides.values()):
        return {}
    return {name: tuple(map(str, side)) for name, side in sides.items() if side is not None}


def _require_honest_zip(file: Path, size: int) -> None:
    """A torch file and an npz are zips: their directory says what they unpack to."""
    if not is_zip_file(file):
        return
    with zipfile.ZipFile(file) as archive:
        entries = archive.infolist()
    if len(entries) > MOST_PARTS:  # each takes its time to be read
        raise Misfit(
            f"holds {len(entries):,} parts, and a model that is known here has at most "
            f"{MOST_PARTS:,}: {ADVICE}"
        )
    declared = sum(entry.file_size for entry in entries)
    if declared > max(DECLARED * size, min(UNPACKED * size, SMALL)):
        raise Misfit(
            f"would unpack to {declared:,} bytes, from {size:,}: weights do not shrink so far, and "
            "it is not opened"
        )


def _require_honest_tensors(tensors: Tensors, size: int) -> None:
    """No tensor may claim values that the file does not hold, by repeating a few of them."""
    declared = 0
    for name, tensor in tensors.items():
        fault = fault_of(tensor)
        if fault is not None:
            raise Misfit(f"holds {clean(name)}, which {fault}")
        declared += tensor.numel() * tensor.element_size()
    if declared > max(DECLARED * size, min(UNPACKED * size, SMALL)):
        raise Misfit(f"claims {declared:,} bytes of values, in {size:,}: not opened")


# Arrays of any kind by their names, as other programs save what they computed.

LARGEST_ARRAYS = 1 << 30
"""Bytes of a file of arrays, and of what it unpacks to."""
ARRAYS = (".npz", ".safetensors")
UNPACKS = "would unpack to {n_bytes} bytes, where at most {most} are read"
NO_NUMBERS = "holds {name} of {type}, where numbers belong"


def read_arrays(file: Path) -> dict[str, Tensor | str]:
    """Name -> its numbers, or its text, in a file of one of these kinds. Raises Misfit.

    No number of times its own size is asked of it: weights of 0 and 1 pack to nearly nothing.
    """
    if file.suffix not in ARRAYS:
        raise Misfit(f"is not a file of arrays: save them as {' or '.join(ARRAYS)}")
    with refusing(file):
        content = read_of_checkpoint(file, LARGEST_ARRAYS)
        if file.suffix == ".safetensors":
            return dict(load(content))
        if not is_zip_file(file):  # numpy would take it for a pickle
            raise ValueError("")
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            n_bytes = sum(entry.file_size for entry in archive.infolist())
        if n_bytes > LARGEST_ARRAYS:
            most = f"{LARGEST_ARRAYS:,}"
            raise Misfit(UNPACKS.format(n_bytes=f"{n_bytes:,}", most=most))
        with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
            return {name: _of_numpy(name, arrays[name]) for name in arrays.files}


def names_in_zip(file: Path) -> list[str]:
    """The names of the arrays in an .npz file, none of which is read; none where it is no zip."""
    try:
        with zipfile.ZipFile(file) as archive:
            return [name.removesuffix(".npy") for name in archive.namelist()[:MOST_PARTS]]
    except (OSError, zipfile.BadZipFile):
        return []


def _of_numpy(name: str, array: Any) -> Tensor | str:
    """An array as a tensor, in this machine's order of bytes. Raises Misfit."""
    if array.dtype.kind == "U" and not array.ndim:
        return str(array)
    if array.dtype.kind not in "fiub" or array.dtype.itemsize > 8:
        raise Misfit(NO_NUMBERS.format(name=clean(name), type=array.dtype))
    return torch.from_numpy(array.astype(array.dtype.newbyteorder("="), order="C"))


# Files that are no weights of PyTorch's, and what opens in their place.

_OF_TORCH = "open the model in PyTorch's form, with model.safetensors, from where it came from"
_UNPACK = "is an archive: unpack it, and open the folder that comes out"
WAYS: Mapping[tuple[str, ...], str] = {
    (".gguf", ".ggml"): f"is a model of llama.cpp: {_OF_TORCH}",
    (".onnx",): f"is a graph of ONNX: {_OF_TORCH}",
    (".h5", ".keras", ".ckpt.index", ".tflite"): f"is a model of TensorFlow: {_OF_TORCH}",
    (".msgpack",): f"is a model of Flax: {_OF_TORCH}",
    (".zip", ".tar", ".gz", ".tgz", ".bz2", ".xz", ".zst", ".7z", ".rar"): _UNPACK,
    (".incomplete", ".part", ".crdownload", ".aria2", ".download"): (
        "is a download that has not ended: fetch it again"
    ),
}
"""Endings of names -> what such a file is, and what to do."""
ENDINGS = tuple(ending for endings in WAYS for ending in endings)


def way_of(file: Path) -> str:
    """Say what a file is, after its name, and what to do; "": nothing is known of it."""
    name = file.name.lower()
    return next((way for endings, way in WAYS.items() if name.endswith(endings)), "")
