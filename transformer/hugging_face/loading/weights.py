"""The files of a Hugging Face folder that hold its weights, whole or in parts."""

import re
from pathlib import Path

from transformer.checkpoint import CheckpointError
from transformer.files.foreign_text import some_of
from transformer.files.json_file import read_json
from transformer.files.of_folder import files_of
from transformer.files.other_tools import ENDINGS, way_of
from transformer.files.spread import spread
from transformer.files.tensor_files import SafetensorsFiles, open_pickles
from transformer.files.tensors import TensorSource
from transformer.files.torch_file import ADVICE

WHOLE, PICKLED = "model.safetensors", "pytorch_model.bin"
FILES = (".safetensors", ".bin")
"""The endings of files of weights, whole ones and parts."""
OTHER_NAMES = (*FILES, ".pt", ".pth", ".ckpt")
"""The endings of files that are read where none of the usual names is there."""
NO_MODEL = (
    *("training_args", "optimizer", "scheduler", "rng_state", "scaler", "random_states"),
    "adapter_model",
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
