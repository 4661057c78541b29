"""The files of a Hugging Face folder that hold its weights, whole or in parts."""

from pathlib import Path

from transformer.checkpoint import CheckpointError
from transformer.files.foreign_text import some_of
from transformer.files.json_file import read_json
from transformer.files.natural_order import natural
from transformer.files.spread import spread
from transformer.files.tensor_files import SafetensorsFiles, open_pickles
from transformer.files.tensors import TensorSource

WHOLE, PICKLED = "model.safetensors", "pytorch_model.bin"
FILES = (".safetensors", ".bin")
"""The endings of files of weights, whole ones and parts."""
OTHERS = (
    *("*.gguf", "*.h5", "*.msgpack", "*.onnx", "*.pth", "*.pt", "*.ckpt", "*.npz", "*.incomplete"),
    *("*.safetensors", "*.bin"),
)
"""Files that are named where those that are read are missing."""
LARGEST_INDEX = 2**27
"""Bytes of an index that are read: a name of every tensor of the largest models is less."""


def open_weights(path: Path) -> TensorSource:
    """The tensors of a folder, read as weights only. Raises CheckpointError."""
    for file in (WHOLE, PICKLED):
        names = _names(path, file)
        if names:
            return SafetensorsFiles(path, names) if file == WHOLE else open_pickles(path, names)
    parts = spread(path)
    if parts:
        raise CheckpointError(f"{path.name}: the weights are not one file: {parts}.")
    others = sorted({file.name for pattern in OTHERS for file in path.glob(pattern)}, key=natural)
    beside = f"; {some_of(others, 3)} is not read" if others else ""
    raise CheckpointError(f"{path.name}: the weights are missing: {WHOLE} or {PICKLED}{beside}.")


def has_weights(path: Path) -> bool:
    """Tell whether a folder has the files that `open_weights` reads, by their names."""
    names = (each for file in (WHOLE, PICKLED) for each in (file, f"{file}.index.json"))
    return any((path / name).is_file() for name in names)


def weights_files(path: Path) -> list[Path]:
    """The files of a folder that `open_weights` reads. Raises CheckpointError."""
    return [path / name for name in _names(path, WHOLE) or _names(path, PICKLED)]


def _names(path: Path, file: str) -> list[str]:
    return [file] if (path / file).is_file() else _parts(path, f"{file}.index.json")


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
