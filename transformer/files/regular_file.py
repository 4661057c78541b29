"""A stranger's file, read into memory only where it is a file, and of an honest size."""

import json
import os
import re
import stat
import zipfile
from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO

from transformer.files.foreign_text import clean
from transformer.files.weights import Misfit

# A stranger's file, read into memory only where it is a file, and of an honest size.
#
# A pipe would be waited for, a device never ends, and a sparse file takes no room on the disk.

POINTER = b"version https://git-lfs.github.com/"
UNFETCHED = "is a Git LFS pointer: the file itself was not fetched (git lfs pull does it)"
_PAGE = re.compile(rb"\s*<(!doctype\s+html|html[\s>]|\?xml\s)", re.IGNORECASE)
_A_PAGE = (
    "is a web page that a server sent in place of the file: fetch it again, and where the model "
    "asks for it, with an account that may read it"
)
_FIRST = 64
"""Bytes that tell what a file is."""
_KINDS = (
    (stat.S_ISDIR, "is a folder, where a file belongs"),
    (stat.S_ISFIFO, "is a pipe, where a file belongs"),
    (stat.S_ISSOCK, "is a socket, where a file belongs"),
)


def read_of_checkpoint(file: Path, most: int) -> bytes:
    """Read a file of a checkpoint, in whose place a server may have sent a web page.

    Raises Misfit as `read_regular` does.
    """
    content = read_regular(file, most)
    _require_no_page(content[:_FIRST])
    return content


def read_regular(file: Path, most: int) -> bytes:
    """Read a file. most: bytes, at most. Raises Misfit, which goes on after its name."""
    try:
        _require_regular(file.stat())
        with _opened(file) as opened:
            status = os.fstat(opened.fileno())
            _require_regular(status)
            _require_size(status.st_size, most)
            content = opened.read(most + 1)  # it may grow while it is read
    except FileNotFoundError as error:
        raise Misfit(_absent(file)) from error
    except (OSError, ValueError) as error:
        raise Misfit(f"cannot be read: {getattr(error, 'strerror', '') or error}") from error
    except MemoryError as error:
        raise Misfit("does not fit into memory") from error
    _require_size(len(content), most)
    _require_fetched(content[:_FIRST])
    return content


def require_of_checkpoint(file: Path) -> None:
    """Check such a file for a reader that opens it by itself. Raises Misfit as they do."""
    try:
        _require_regular(file.stat())
        with _opened(file) as opened:
            first = opened.read(_FIRST)
    except FileNotFoundError as error:
        raise Misfit(_absent(file)) from error
    except (OSError, ValueError) as error:
        raise Misfit(f"cannot be read: {getattr(error, 'strerror', '') or error}") from error
    _require_fetched(first)
    _require_no_page(first)


def _absent(file: Path) -> str:
    if not file.is_symlink():
        return "is missing"
    return "is a link to a file that is not there: copy the file itself, as cp -L does"


def _require_fetched(first: bytes) -> None:
    if first.startswith(POINTER):
        raise Misfit(UNFETCHED)


def _require_no_page(first: bytes) -> None:
    if _PAGE.match(first):
        raise Misfit(_A_PAGE)


def _opened(file: Path) -> BinaryIO:
    """It may have been replaced since it was looked at: a pipe must not be waited for."""
    descriptor = os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    return open(descriptor, "rb")  # noqa: PTH123 (of a descriptor)


def is_zip_file(file: Path) -> bool:
    """Tell whether it is a zip that can be read, as torch.save and numpy write them."""
    try:
        return zipfile.is_zipfile(file)
    except zipfile.BadZipFile:  # one of several disks
        return False


def _require_regular(status: os.stat_result) -> None:
    if stat.S_ISREG(status.st_mode):
        return
    kinds = (title for is_one, title in _KINDS if is_one(status.st_mode))
    raise Misfit(next(kinds, "is a device, where a file belongs"))


def _require_size(size: int, most: int) -> None:
    if size > most:
        raise Misfit(f"is too large: {size:,} bytes, where at most {most:,} are read")


# Names in the order in which people count: step_9 before step_10.


def natural(name: str) -> tuple[tuple[bool, int, str], ...]:
    """A key for `sorted`.

    >>> sorted(["step_10", "step_9", "best", "step"], key=natural)
    ['best', 'step', 'step_9', 'step_10']
    """
    parts = re.findall("[0-9]+|[^0-9]+", name)
    return tuple((p.isascii() and p.isdigit(), int(p) if p.isdigit() else 0, p) for p in parts)


# Files of a folder, as people see them: what begins with a dot is the system's.
#
# macOS leaves ._model.safetensors beside a file on other disks and in its archives.


def files_of(folder: Path, endings: Iterable[str]) -> list[Path]:
    """The files whose names end so, links that lead nowhere among them, in natural order."""
    ends = tuple(endings)
    names = (each for each in folder.iterdir() if not each.name.startswith("."))
    files = (each for each in names if each.name.endswith(ends) and not each.is_dir())
    return sorted(files, key=lambda file: natural(file.name))


# The fault of a file of weights that its reader gives up on, told from the file itself.
#
# Readers say it in words of their own: "EOFError", "(101)", "failed finding central directory".

CUT = r"\bEOF|Ran out of input|out of range|requires a buffer|truncated"
"""The words of readers for a file that ends too soon."""
_WORDS = r"[a-z]{2,}\W+[a-z]{2,}"
DAMAGED = "it is damaged, or something else"
HEADER = 100 << 20
"""Bytes that safetensors allows a header."""


def broken(file: Path, message: str) -> str:
    """A clause that follows "is not a whole file: ". message: what the reader says of it."""
    try:
        size = file.stat().st_size
        with file.open("rb") as opened:
            first = opened.read(8)
            is_zip = first.startswith(b"PK")
            header = b""
            n = int.from_bytes(first, "little")
            if len(first) == 8 and n <= HEADER and not is_zip:
                header = opened.read(n)
    except OSError as error:
        return f"it cannot be read ({error.strerror})"
    if not size:
        return "it is empty"
    if is_zip:
        return _of_zip(file, message)
    if header.startswith(b"{") or (file.suffix == ".safetensors" and size <= 8):
        return _of_safetensors(header, n, size, message)
    if first.isascii() and (text := _text(file)):
        return f"it is text that begins {text!r}"
    if re.search(CUT, message):
        return "it is cut off"
    return f"{DAMAGED}{_reason(message)}"


def _text(file: Path) -> str:
    """Return the first line of a file of text, such as what a server said instead; "": no text."""
    try:
        with file.open("rb") as opened:
            line = opened.read(40).decode("ascii").strip().partition("\n")[0]
    except (OSError, ValueError):
        return ""
    is_said = line.isprintable() and re.search(_WORDS, line)
    return line if is_said else ""


def ends_with(file: Path, name: str) -> bool:
    """Tell whether a file is cut off within the name of a class, as far as that is there."""
    try:
        with file.open("rb") as opened:
            opened.seek(max(0, file.stat().st_size - 200))
            tail = opened.read().replace(b"\n", b".")
        # The reader takes the last character for the end of the line.
        return any(each.rstrip(b".").endswith(name.encode()) for each in (tail, tail[:-1]))
    except OSError:
        return False


def _of_zip(file: Path, message: str) -> str:
    """The list of a zip's parts comes last."""
    if not is_zip_file(file):
        return "it is cut off: its end is missing"
    return f"it is damaged{_reason(message)}"


def _of_safetensors(header: bytes, n: int, size: int, message: str) -> str:
    """It says itself where its last tensor ends."""
    if len(header) < n or size <= 8:
        return "it is cut off within its header"
    try:
        ends = [each["data_offsets"][1] for each in json.loads(header).values() if "dtype" in each]
        whole = 8 + n + max(ends)
        if size < whole < 2**63:
            return f"it is cut off: {size:,} bytes of {whole:,} are there"
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError):
        pass
    return f"it is damaged{_reason(message)}"


def _reason(message: str) -> str:
    """The reader's words in brackets, where they are words and not a number or an error's name."""
    text = clean(message.strip().partition("\n")[0], 100).rstrip(". ")
    return f" ({text})" if re.search(_WORDS, text) else ""
