"""Where tensors are kept: safetensors, one file or several; pickles of weights; memory."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from transformer.checkpoint import CheckpointError
from transformer.files.found import Misfit
from transformer.files.tensors import Stored, floats, list_tensors, open_tensors
from transformer.files.torch_file import fault_of, read_torch

NAMES = {
    **{torch.float64: "F64", torch.float32: "F32", torch.float16: "F16", torch.bfloat16: "BF16"},
    **{torch.int64: "I64", torch.int32: "I32", torch.int16: "I16", torch.int8: "I8"},
    **{torch.uint8: "U8", torch.bool: "BOOL"},
}
"""What safetensors calls a type of number."""


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
            fault = fault_of(value)
            if fault is None:
                found[str(name)] = value
            else:
                faults[str(name)] = fault
    return LoadedTensors(found, faults)


def _unpickled(file: Path, where: str) -> Mapping[Any, Any]:
    if not file.is_file():
        raise CheckpointError(f"{where} is missing.")
    try:
        values = read_torch(file)
    except Misfit as error:
        raise CheckpointError(f"{where} {error}.") from error
    if not isinstance(values, Mapping):
        raise CheckpointError(f"{where} holds no tensors by name.")
    return values


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
