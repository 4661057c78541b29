"""Where tensors are kept: safetensors, one file or several; pickles of weights; memory."""

import re
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from transformer.checkpoint import CheckpointError
from transformer.files.foreign_text import shown
from transformer.files.tensors import Stored, floats, list_tensors, open_tensors

NAMES = {
    **{torch.float64: "F64", torch.float32: "F32", torch.float16: "F16", torch.bfloat16: "BF16"},
    **{torch.int64: "I64", torch.int32: "I32", torch.int16: "I16", torch.int8: "I8"},
    **{torch.uint8: "U8", torch.bool: "BOOL"},
}
"""What safetensors calls a type of number."""

ADVICE = "save the weights alone, with torch.save(model.state_dict(), path)"
"""What to do about a file that holds more than weights."""


class SafetensorsFiles:
    """One file, or the parts of a model that was split over several.

    Of several, the ones that are missing or damaged are faults, as long as one can be read. Raises
    CheckpointError where none can.
    """

    def __init__(self, folder: Path, names: Iterable[str]) -> None:
        self._folder = folder
        self._file_of: dict[str, str] = {}
        self.stored: Mapping[str, Stored] = {}
        self.faults: dict[str, str] = {}
        found: dict[str, Stored] = {}
        names = list(dict.fromkeys(names))
        for file in names:
            try:
                inside = list_tensors(folder / file, self._where(file))
            except CheckpointError as error:
                if len(names) == 1 or (file == names[-1] and not found):
                    raise
                self.faults[file] = _fault(str(error), self._where(file))
                continue
            found |= inside
            self._file_of |= dict.fromkeys(inside, file)
        self.stored = found

    def read(self, *names: str) -> Iterator[Tensor]:
        """As TensorSource says; a file stays open for as long as its tensors follow each other."""
        for file, inside in _runs(names, self._file_of):
            with open_tensors(self._folder / file, self._where(file)) as opened:
                for name in inside:
                    yield floats(opened.get_tensor(name))

    def _where(self, file: str) -> str:
        return f"{self._folder.name}: {file}"


class LoadedTensors:
    """Tensors that are in memory, or mapped into it."""

    def __init__(self, tensors: Mapping[str, Tensor], faults: Mapping[str, str] = {}) -> None:
        self._tensors, self.faults = tensors, faults
        self.stored: Mapping[str, Stored] = {
            name: Stored(name, NAMES.get(each.dtype, str(each.dtype)[6:]), tuple(each.shape))
            for name, each in tensors.items()
        }

    def read(self, *names: str) -> Iterator[Tensor]:
        """As TensorSource says."""
        for name in names:
            yield floats(self._tensors[name].detach().cpu())


def open_pickles(folder: Path, names: Iterable[str]) -> LoadedTensors:
    """Files that torch.save wrote, read as weights only: nothing in them is run.

    As for SafetensorsFiles, what cannot be read of several files is a fault.
    """
    found: dict[str, Tensor] = {}
    faults: dict[str, str] = {}
    names = list(dict.fromkeys(names))
    for file in names:
        where = f"{folder.name}: {file}"
        try:
            values = _unpickled(folder / file, where)
        except CheckpointError as error:
            if len(names) == 1 or (file == names[-1] and not found):
                raise
            faults[file] = _fault(str(error), where)
            continue
        for name, value in values.items():
            if _is_whole(value):
                found[str(name)] = value
            else:
                faults[str(name)] = "is no tensor with values of its own"
    return LoadedTensors(found, faults)


def _unpickled(file: Path, where: str) -> Mapping[Any, Any]:
    if not file.is_file():
        raise CheckpointError(f"{where} is missing.")
    try:
        is_zip = zipfile.is_zipfile(file)
        if is_zip and _is_compressed(file):  # torch stores; what swells when read is a trap
            raise CheckpointError(f"{where} is compressed, which torch.save never does.")
        values = torch.load(file, map_location="cpu", weights_only=True, mmap=is_zip)
    except CheckpointError:
        raise
    except Exception as error:  # a pickle that is not what it should be fails in any way
        raise CheckpointError(f"{where} {unreadable(error)}.") from error
    if not isinstance(values, Mapping):
        raise CheckpointError(f"{where} holds no tensors by name.")
    return values


def unreadable(error: Exception) -> str:
    """A reader's error as the rest of a sentence that begins with the file's name."""
    said = str(error)
    forbidden = re.search(r"GLOBAL ([\w.]+)", said)
    if forbidden and forbidden[1].startswith(("torchtext", "onmt")):
        return (
            f"holds a vocabulary as Python objects ({forbidden[1]}), which are not loaded: where "
            "it was made, load it once, replace its 'vocab' by {'src': [pieces], 'tgt': [pieces]}, "
            "in the order of their ids as OpenNMT-py 3 has them, and save it again"
        )
    if forbidden:
        return f"holds Python objects ({forbidden[1]}), which are not loaded: {ADVICE}"
    if "allow_pickle" in said:
        return "holds Python objects, which are not loaded: save arrays of numbers alone"
    if isinstance(error, FileNotFoundError | PermissionError | IsADirectoryError):
        return f"cannot be read: {error.strerror}"
    inner = re.search(r"WeightsUnpickler error: (.*)", said)
    first = inner[1] if inner else said.strip().partition("\n")[0]
    reason = shown(first, 100).rstrip(". ") or type(error).__name__
    return f"is not a whole file of weights: it is cut off, or something else ({reason})"


def _is_compressed(file: Path) -> bool:
    with zipfile.ZipFile(file) as archive:
        parts = archive.infolist()
    return sum(part.file_size for part in parts) > file.stat().st_size


def _is_whole(value: Any) -> bool:
    """A tensor whose values are all in the file: a view may claim any size of a single number."""
    if not isinstance(value, Tensor) or value.layout != torch.strided or value.is_quantized:
        return False
    return value.numel() * value.element_size() <= value.untyped_storage().nbytes()


def _fault(sentence: str, where: str) -> str:
    return sentence.removeprefix(where).strip().rstrip(".")


def _runs(names: Iterable[str], file_of: Mapping[str, str]) -> Iterator[tuple[str, list[str]]]:
    """Names in their order, those that follow each other in one file together."""
    run: list[str] = []
    for name in names:
        if run and file_of[name] != file_of[run[0]]:
            yield file_of[run[0]], run
            run = []
        run.append(name)
    if run:
        yield file_of[run[0]], run
