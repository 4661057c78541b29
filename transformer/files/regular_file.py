"""A stranger's file, read into memory only where it is a file, and of an honest size.

A pipe would be waited for, a device never ends, and a sparse file takes no room on the disk.
"""

import os
import re
import stat
import zipfile
from pathlib import Path
from typing import BinaryIO

from transformer.files.weights import Misfit

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
