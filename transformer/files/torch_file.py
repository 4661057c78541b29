"""Files of torch.save, read as weights only: nothing in them is run, and nothing swells."""

import argparse
import pickletools
import re
import sys
import threading
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from transformer.extras import NotInstalled
from transformer.files.regular_file import broken, ends_with, is_zip_file, require_of_checkpoint
from transformer.files.weights import Misfit

# Files of torch.save, read as weights only: nothing in them is run, and nothing swells.

ADVICE = "save only the weights, with torch.save(model.state_dict(), path)"
"""Advice about a file that holds more than weights."""
OBJECTS = "holds Python objects, which are not loaded: save only arrays of numbers"
NOT_WHOLE = "is not a whole file of weights: {why}"

IS_SAFE = torch.__version__ >= "2.10"
"""False: what is crafted may write past its memory while this torch reads it as weights only
(CVE-2026-24747), so that nothing is read."""

_LOADING = threading.Lock()
"""torch's list of safe classes is one for the process, and `safe_globals` puts back what it saw."""


_OLD = b"\x80\x02\x8a\x0al\xfc\x9cF\xf9 j\xa8P\x19."
"""The first bytes of torch.save's files before version 1.6."""


def is_saved_by_torch(file: Path) -> bool:
    """Tell whether it begins as torch.save's files do: an archive, or its older form."""
    try:
        with file.open("rb") as opened:
            first = opened.read(len(_OLD))
    except OSError:
        return False
    return first == _OLD or (first.startswith(b"PK") and is_zip_file(file))


def read_torch(file: Path) -> Any:
    """Tensors, containers, numbers, texts, and options as argparse keeps them. Raises Misfit.

    The file is not mapped: one that is cut meanwhile would end the process (SIGBUS).
    """
    return _read(file, "cpu")


def outline_of(file: Path) -> Any:
    """The same with tensors that have no values yet: `stored_values` reads them. Raises Misfit.

    Of a file of torch before 1.6, and of a machine with another order of bytes, they have them.
    """
    with refusing(file):
        require_of_checkpoint(file)
        return _read(file, "meta" if is_zip_file(file) and _is_of_our_order(file) else "cpu")


def _is_of_our_order(file: Path) -> bool:
    """Torch would turn the bytes of a tensor around that has none, and end the process."""
    with zipfile.ZipFile(file) as archive:
        orders = [part for part in archive.infolist() if part.filename.endswith("byteorder")]
        return all(
            part.file_size < 9 and archive.read(part) == sys.byteorder.encode() for part in orders
        )


def stored_values(file: Path, tensor: Tensor) -> Tensor:
    """A tensor of `outline_of`, with its values. Raises OSError, and ValueError where it is cut."""
    storage: Any = tensor.untyped_storage()
    empty = torch.empty(0, dtype=tensor.dtype)
    if storage.nbytes():
        with file.open("rb") as opened:
            opened.seek(storage._checkpoint_offset)
            read = np.fromfile(opened, np.uint8, storage.nbytes())
        if len(read) < storage.nbytes():
            raise ValueError("it is cut off")
        values = torch.from_numpy(read).untyped_storage()
        empty.set_(values, tensor.storage_offset(), tensor.shape, tensor.stride())
    return empty.view(tensor.shape)


def _read(file: Path, device: str) -> Any:
    with refusing(file):
        require_of_checkpoint(file)
        if not IS_SAFE:
            raise Misfit(
                f"is a pickle, which torch {torch.__version__} does not read safely: install torch "
                "2.10 or newer, or save it as safetensors where it comes from"
            )
        if is_zip_file(file):
            _require_stored(file)
        with _LOADING, torch.serialization.safe_globals([argparse.Namespace]):
            return torch.load(file, map_location=device, weights_only=True, mmap=False)


@contextmanager
def refusing(file: Path) -> Iterator[None]:
    """Turn whatever a reader raises over a file into a Misfit: a damaged one fails in any way."""
    try:
        yield
    except (Misfit, NotInstalled):
        raise
    except MemoryError as error:
        raise Misfit("does not fit into memory") from error
    except Exception as error:
        raise Misfit(_unreadable(file, error)) from error


def fault_of(value: Any) -> str | None:
    """Say why a value is no tensor that can be read, after its name; None where it is one.

    A view may claim any size and repeat a single number.
    """
    if not isinstance(value, Tensor):
        return "is not a tensor"
    if value.layout != torch.strided:
        return "is sparse, which is not read: save it as value.to_dense()"
    if value.is_quantized or (value.device.type != "cpu" and not _lies_in_a_file(value)):
        return "is in a form that is not read: save it dense"
    if value.numel() * value.element_size() > value.untyped_storage().nbytes():
        return "claims more values than there are"
    return None


def _lies_in_a_file(value: Tensor) -> bool:
    """Tell whether it is one of `outline_of`: one that was saved without values is not."""
    return (
        value.is_meta and getattr(value.untyped_storage(), "_checkpoint_offset", None) is not None
    )


def _unreadable(file: Path, error: Exception) -> str:
    """A reader's error as the rest of a sentence that begins with the file's name."""
    message = str(error)
    forbidden = re.search(r"GLOBAL ([\w.]+)", message)
    if forbidden and ends_with(file, forbidden[1].rstrip(".")):
        return "is not a whole file of weights: it is cut off"
    if forbidden and forbidden[1].startswith(("torchtext", "onmt")):
        return (
            f"holds a vocabulary as Python objects ({forbidden[1]}), which are not loaded: where "
            "it was made, load it once, replace its 'vocab' by {'src': [pieces], 'tgt': [pieces]}, "
            "in the order of their ids as OpenNMT-py 3 has them, and save it again"
        )
    if forbidden:
        return f"holds Python objects ({forbidden[1]}), which are not loaded: {ADVICE}"
    if "allow_pickle" in message:
        return OBJECTS
    if isinstance(error, FileNotFoundError | PermissionError | IsADirectoryError):
        return f"cannot be read: {error.strerror}"
    message = "EOF" if isinstance(error, EOFError) else message
    inner = re.search(r"WeightsUnpickler error: (.*)", message)
    return NOT_WHOLE.format(why=broken(file, inner[1] if inner else message))


def _require_stored(file: Path) -> None:
    """torch.save stores its parts as they are; what swells when it is read is a trap."""
    with zipfile.ZipFile(file) as archive:
        parts = archive.infolist()
    inside = {part.filename.partition("/")[2] for part in parts}
    if "constants.pkl" in inside:
        raise Misfit(f"is a scripted or traced module (torch.jit), which holds code: {ADVICE}")
    if "archive_format" in inside:
        raise Misfit(f"is a program of torch.export, which holds code: {ADVICE}")
    is_packed = any(part.compress_type != zipfile.ZIP_STORED for part in parts)
    if is_packed or sum(part.file_size for part in parts) > file.stat().st_size:
        raise Misfit("is packed, which torch.save does not do; save it again")


# A pickle of plain values, read without `pickle`: a small stack machine over its opcodes.
#
# It makes dictionaries, lists, tuples, texts and numbers. An opcode that names a class, calls a
# function or asks for memory by a number alone is not in its table, and ends the reading.


class _Machine:
    """Values on a stack, marks between them, and the memo that refers back to them."""

    def __init__(self) -> None:
        self.stack: list[Any] = []
        self.marks: list[int] = []
        self.memo: dict[int, Any] = {}

    def since_mark(self) -> list[Any]:
        """Take off what was put on the stack since the last mark."""
        return self.last(len(self.stack) - self.marks.pop())

    def last(self, n: int) -> list[Any]:
        """The last n values; they are taken off."""
        if n > len(self.stack):
            raise ValueError("it takes more than it has")
        start = len(self.stack) - n
        values = self.stack[start:]
        del self.stack[start:]
        return values

    def extend(self, values: list[Any]) -> None:
        """Into the list on top of the stack."""
        if not isinstance(self.stack[-1], list):
            raise ValueError("it appends to what is not a list")
        self.stack[-1].extend(values)

    def update(self, values: list[Any]) -> None:
        """Keys and values in turn, into the dictionary on top of the stack."""
        if not isinstance(self.stack[-1], dict):
            raise ValueError("it sets an item of what is not a dictionary")
        self.stack[-1].update(_dictionary(values))


def _dictionary(values: list[Any]) -> dict[Any, Any]:
    """Keys are texts and numbers: the hash of tuples in tuples may take for ever."""
    keys = values[::2]
    if not all(isinstance(key, str | int | float) for key in keys):
        raise ValueError("it has keys that are neither texts nor numbers")
    return dict(zip(keys, values[1::2], strict=True))


def _nothing(machine: _Machine, argument: Any) -> None:
    """Skip an opcode that only says how the file is written."""


def _argument(machine: _Machine, argument: Any) -> None:
    machine.stack.append(argument)


def _memoize(machine: _Machine, argument: Any) -> None:
    machine.memo[len(machine.memo) if argument is None else argument] = machine.stack[-1]


def _pushing(make: Callable[[_Machine, Any], Any]) -> Callable[[_Machine, Any], None]:
    return lambda machine, argument: machine.stack.append(make(machine, argument))


_STEPS: dict[str, Callable[[_Machine, Any], None]] = {
    **dict.fromkeys(("PROTO", "FRAME"), _nothing),
    **dict.fromkeys(("BINUNICODE", "SHORT_BINUNICODE", "BINFLOAT", "LONG1"), _argument),
    **dict.fromkeys(("BININT", "BININT1", "BININT2"), _argument),
    **dict.fromkeys(("MEMOIZE", "BINPUT", "LONG_BINPUT"), _memoize),
    **dict.fromkeys(("BINGET", "LONG_BINGET"), _pushing(lambda m, number: m.memo[number])),
    "NONE": _pushing(lambda m, _: None),
    "NEWTRUE": _pushing(lambda m, _: True),
    "NEWFALSE": _pushing(lambda m, _: False),
    "EMPTY_DICT": _pushing(lambda m, _: {}),
    "EMPTY_LIST": _pushing(lambda m, _: []),
    "EMPTY_TUPLE": _pushing(lambda m, _: ()),
    "TUPLE1": _pushing(lambda m, _: tuple(m.last(1))),
    "TUPLE2": _pushing(lambda m, _: tuple(m.last(2))),
    "TUPLE3": _pushing(lambda m, _: tuple(m.last(3))),
    "MARK": lambda m, _: m.marks.append(len(m.stack)),
    "TUPLE": _pushing(lambda m, _: tuple(m.since_mark())),
    "LIST": _pushing(lambda m, _: m.since_mark()),
    "DICT": _pushing(lambda m, _: _dictionary(m.since_mark())),
    "APPEND": lambda m, _: m.extend(m.last(1)),
    "APPENDS": lambda m, _: m.extend(m.since_mark()),
    "SETITEM": lambda m, _: m.update(m.last(2)),
    "SETITEMS": lambda m, _: m.update(m.since_mark()),
}
"""The effect of each opcode; those that are not here are refused."""


def read_plain_pickle(data: bytes) -> Any:
    """The value of a pickle that holds nothing but plain ones. Raises ValueError, which says why.

    >>> read_plain_pickle(b"\\x80\\x04}\\x94\\x8c\\x01a\\x94K\\x07s.")
    {'a': 7}
    """
    machine = _Machine()
    try:
        for opcode, argument, _ in pickletools.genops(data):
            if opcode.name == "STOP":
                return machine.stack[-1]
            step = _STEPS.get(opcode.name)
            if step is None:
                raise ValueError(f"it holds more than plain values ({opcode.name})")
            step(machine, argument)
    except LookupError as error:
        raise ValueError("it refers to what it does not have") from error
    raise ValueError("it does not end")
