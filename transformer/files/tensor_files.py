"""Sources of tensors: safetensors, one file or several; pickles of weights; memory."""

import io
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from threading import Event, Lock
from types import EllipsisType
from typing import Any, TypeVar

import torch
from safetensors import safe_open
from torch import Tensor

from transformer.checkpoint import CheckpointError
from transformer.files.foreign_file import place
from transformer.files.foreign_text import some_of
from transformer.files.regular_file import require_of_checkpoint
from transformer.files.tensors import (
    UNMAPPED,
    State,
    Stored,
    TensorSource,
    Unread,
    floats,
    list_tensors,
    open_tensors,
    reading,
    state_in,
)
from transformer.files.torch_file import ADVICE, fault_of, outline_of, stored_values
from transformer.files.weights import Misfit

# Tensors that stand in two parts of one model, with values that differ: no reader can be right.


def contradictions(
    inside: Mapping[str, Mapping[str, Any]], values: Callable[[str, str], Tensor]
) -> dict[str, str]:
    """File -> what it says otherwise than one before it.

    inside: file -> what it holds, by name. values: of a file and a name; read only where needed.
    """
    first: dict[str, str] = {}
    faults: dict[str, str] = {}
    for file, tensors in inside.items():
        for name in tensors:
            before = first.setdefault(name, file)
            if before != file and not _are_equal(values(before, name), values(file, name)):
                faults[file] = f"holds other values of {name} than {before}"
    return faults


def _are_equal(first: Tensor, second: Tensor) -> bool:
    """Compare what was saved, where NaN is NaN."""
    if (first.shape, first.dtype) != (second.shape, second.dtype):
        return False
    return bool(((first == second) | (first != first) & (second != second)).all())


# Sources of tensors: safetensors, one file or several; pickles of weights; memory.

T = TypeVar("T")
NAMES = {
    **{torch.float64: "F64", torch.float32: "F32", torch.float16: "F16", torch.bfloat16: "BF16"},
    **{torch.int64: "I64", torch.int32: "I32", torch.int16: "I16", torch.int8: "I8"},
    **{torch.uint8: "U8", torch.bool: "BOOL", torch.complex64: "C64"},
    **{torch.float8_e4m3fn: "F8_E4M3", torch.float8_e5m2: "F8_E5M2"},
}
"""The names of types of numbers in safetensors."""


@dataclass(frozen=True)
class Later:
    """An Unread whose values a function reads."""

    read: Callable[[], Tensor]

    def __getitem__(self, all: EllipsisType, /) -> Tensor:
        return self.read()


class SafetensorsFiles:
    """One file, or the parts of a model that was split over several.

    Of several, the ones that are missing or damaged are faults, as long as one can be read. Raises
    CheckpointError where none can.
    """

    def __init__(self, folder: Path, names: Iterable[str]) -> None:
        self._folder = folder
        inside, faults = _read_each(folder, names, list_tensors)
        self.notes: tuple[str, ...] = ()
        self.faults = faults | contradictions(inside, self._value)
        self._file_of = {name: file for file, tensors in inside.items() for name in tensors}
        self.stored: Mapping[str, Stored] = {
            name: each for tensors in inside.values() for name, each in tensors.items()
        }

    def read(self, *names: str) -> Iterator[Tensor]:
        """See TensorSource; a file stays open for as long as its tensors follow each other."""
        for file, inside in _runs(names, self._file_of):
            with open_tensors(self._folder / file, f"{self._folder.name}: {file}") as opened:
                for name in inside:
                    yield floats(opened.get_tensor(name))

    def _value(self, file: str, name: str) -> Tensor:
        with open_tensors(self._folder / file, f"{self._folder.name}: {file}") as opened:
            value: Tensor = opened.get_tensor(name)
            return value

    @contextmanager
    def unread(self) -> Iterator[Mapping[str, Unread]]:
        """See TensorSource; every file is open meanwhile, as its header may be long.

        One thread reads at a time, and none while the files are closed: whoever leaves early, as
        over the first NaN, would meet an error of the library instead of its own.
        """
        lock, is_over = Lock(), Event()
        with ExitStack() as stack:
            opened = {}
            for file in sorted(set(self._file_of.values())):
                where = f"{self._folder.name}: {file}"
                with reading(self._folder / file, where):
                    require_of_checkpoint(self._folder / file)
                    inside = safe_open(self._folder / file, framework="pt", backend=UNMAPPED)
                    opened[file] = stack.enter_context(inside)
            try:
                yield {
                    name: Later(partial(self._values, lock, is_over, opened[file], file, name))
                    for name, file in self._file_of.items()
                }
            finally:
                is_over.set()
                with lock:
                    stack.close()

    def _values(self, lock: Lock, is_over: Event, opened: Any, file: str, name: str) -> Tensor:
        where = f"{self._folder.name}: {file}"
        with lock, reading(self._folder / file, where):
            if is_over.is_set():
                raise CheckpointError(f"{where} is no longer read.")
            values: Tensor = opened.get_tensor(name)
            return values


class RenamedTensors:
    """The tensors of another source, under other names."""

    def __init__(self, source: TensorSource, names: Mapping[str, str]) -> None:
        """names: name -> the source's."""
        self._source, self._names = source, names
        self.faults, self.notes = source.faults, source.notes
        self.stored: Mapping[str, Stored] = {
            name: replace(source.stored[was], name=name) for name, was in names.items()
        }

    def read(self, *names: str) -> Iterator[Tensor]:
        """See TensorSource."""
        return self._source.read(*(self._names[name] for name in names))

    @contextmanager
    def unread(self) -> Iterator[Mapping[str, Unread]]:
        """See TensorSource."""
        with self._source.unread() as values:
            yield {name: values[was] for name, was in self._names.items()}


class LoadedTensors:
    """Tensors that are in memory, or whose values are in files that must stay as they are."""

    def __init__(
        self,
        tensors: Mapping[str, Tensor],
        faults: Mapping[str, str] = {},
        files: Iterable[Path] = (),
        lie_in: Mapping[str, Path] = {},
        notes: tuple[str, ...] = (),
    ) -> None:
        """files: what the tensors were read from. lie_in: name -> file, of those whose values are
        still there. notes: see TensorSource.
        """
        self._tensors, self.faults, self._lie_in, self.notes = tensors, faults, lie_in, notes
        self._files = {file: _stamp(file) for file in files}
        self.stored: Mapping[str, Stored] = {
            name: Stored(name, NAMES.get(each.dtype, str(each.dtype)[6:]), tuple(each.shape))
            for name, each in tensors.items()
        }

    def read(self, *names: str) -> Iterator[Tensor]:
        """See TensorSource."""
        for name in names:
            for file, stamp in self._files.items():
                if _stamp(file) != stamp:
                    raise CheckpointError(
                        f"{place(file)} was changed or removed while it was open: open it again."
                    )
            yield floats(self.value(name))

    @contextmanager
    def unread(self) -> Iterator[Mapping[str, Unread]]:
        """See TensorSource."""
        yield {name: Later(partial(self.value, name)) for name in self._tensors}

    def value(self, name: str) -> Tensor:
        """It as it was saved. Raises CheckpointError."""
        tensor = self._tensors[name]
        if not tensor.is_meta:
            return tensor.detach().cpu()
        file = self._lie_in[name]
        try:
            return stored_values(file, tensor)
        except (OSError, ValueError) as error:
            raise CheckpointError(f"{place(file)} was cut or removed while it was read.") from error


def _stamp(file: Path) -> tuple[int, ...]:
    """Return numbers that change where a file is written, replaced or removed."""
    try:
        status = file.stat()
    except OSError:
        return ()
    return status.st_ino, status.st_size, status.st_mtime_ns


def open_pickles(folder: Path, names: Iterable[str]) -> LoadedTensors:
    """Files that torch.save wrote, read as weights only: nothing in them is run.

    As for SafetensorsFiles, what cannot be read of several files is a fault.
    """
    states, faults = _read_each(folder, names, _unpickled)
    inside = {file: state.tensors for file, state in states.items()}
    notes = tuple(note for state in states.values() for note in state.notes)
    tensors: dict[str, Tensor] = {}
    lie_in: dict[str, Path] = {}
    sources: dict[str, LoadedTensors] = {}
    for file, values in inside.items():
        wrong = {str(name): why for name, value in values.items() if (why := fault_of(value))}
        whole = {str(name): value for name, value in values.items() if str(name) not in wrong}
        places = dict.fromkeys(whole, folder / file)
        sources[file] = LoadedTensors(whole, lie_in=places)
        tensors, lie_in, faults = tensors | whole, lie_in | places, faults | wrong
    faults |= contradictions(
        {file: each.stored for file, each in sources.items()},
        lambda file, name: sources[file].value(name),
    )
    return LoadedTensors(tensors, faults, [folder / name for name in inside], lie_in, notes)


def _unpickled(file: Path, where: str) -> State:
    try:
        values = outline_of(file)
        if not isinstance(values, Mapping):
            raise Misfit(f"holds no tensors by name: {ADVICE}")
        return state_in(values, file.name)
    except Misfit as error:
        raise CheckpointError(f"{where} {error}.") from error


def _read_each(
    folder: Path, names: Iterable[str], read: Callable[[Path, str], T]
) -> tuple[dict[str, T], dict[str, str]]:
    """File -> what it holds; and file -> what is wrong with it. Raises where none can be read."""
    inside, faults = {}, {}
    names = list(dict.fromkeys(names))
    for file in names:
        where = f"{folder.name}: {file}"
        try:
            inside[file] = read(folder / file, where)
        except CheckpointError as error:
            if len(names) == 1 or (file == names[-1] and not any(inside.values())):
                raise
            faults[file] = str(error).removeprefix(where).strip().rstrip(".")
    return inside, faults


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


# Files of a stranger's zip, one after the other, with limits on how many and on how large.
#
# A few thousand bytes can hold gigabytes once they are unpacked, so they are unpacked no further
# than the limit.

BEGINNING = b"PK\x03\x04"
MOST_FILES = 1000
_ENTRY = b"PK\x01\x02"
"""The bytes before each file's name in the list of all."""
_READ = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_DAMAGED = (
    *(zipfile.BadZipFile, zlib.error, struct.error),
    *(EOFError, OSError, RuntimeError, ValueError),
)
"""The errors that reading one may raise."""
_LOCKED = 1
"""The flag of a file that asks for a password."""


def unpacked(content: bytes, endings: tuple[str, ...], most: int) -> Iterator[bytes]:
    """Files whose names end so, in their order. most: bytes of all of them together.

    Raises Misfit, which goes on after the zip's name.
    """
    if content.count(_ENTRY) > MOST_FILES:
        raise Misfit(f"holds more than {MOST_FILES:,} files")
    room = most
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            for info in archive.infolist():
                if not info.filename.lower().endswith(endings):
                    continue
                if info.flag_bits & _LOCKED or info.compress_type not in _READ:
                    raise Misfit("is locked, or packed in a way that is not read here")
                with archive.open(info) as file:
                    data = file.read(room + 1)
                room -= len(data)
                if room < 0:
                    raise Misfit(f"holds more than {most:,} bytes when it is unpacked")
                yield data
    except _DAMAGED as error:
        raise Misfit("is a zip that is damaged") from error


# Weights that a training of several processes left in parts, which only its own code joins.

WAYS: Mapping[tuple[str, ...], str] = {
    ("*.distcp", "*/*.distcp"): (
        "of torch.distributed.checkpoint: `accelerate merge-weights FOLDER OUT`, FOLDER being "
        "where they lie, makes model.safetensors of them"
    ),
    ("*_model_states.pt", "*/*_model_states.pt", "*_optim_states.pt", "*/*_optim_states.pt"): (
        "of DeepSpeed: `python zero_to_fp32.py . OUT`, which lies beside them, makes "
        "pytorch_model.bin of them"
    ),
}
"""Patterns of files -> what they are parts of, and what makes one file of them."""


def spread(path: Path) -> str:
    """Say which such parts a folder holds, or a file is, and what to do; "": there are none."""
    folder = path.parent if path.is_file() else path
    for patterns, way in WAYS.items():
        if path.is_file() and not any(map(path.match, patterns)):
            continue
        names = sorted({file.name for pattern in patterns for file in folder.glob(pattern)})
        if names:
            return f"{some_of(names, 1)} {'is a part' if len(names) == 1 else 'are parts'} {way}"
    return ""
