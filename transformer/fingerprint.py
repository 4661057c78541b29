"""The files of a checkpoint as they stand on disk: their version, their size, and their mark
among all others.
"""

import hashlib
import os
from functools import lru_cache
from pathlib import Path

from transformer.checkpoint import CONFIG, About, CheckpointError
from transformer.formats.format import Format
from transformer.formats.opening import describe_checkpoint, find_format, format_of
from transformer.refusal import Refusal

# The mark of a checkpoint among all others: the SHA-256 of the files that it is read from.

CHUNK = 2**20
"""Bytes that are read at a time."""
DIGITS = 16
"""The digits of a mark in an address and in a caption."""


def fingerprint(path: Path) -> str:
    """64 hexadecimal digits: of the names and contents of its configuration, weights and tokenizer.

    Empty where nothing is on disk, as of a module of one's own. Raises CheckpointError.
    """
    files = [each for each in format_of(path).files(path) if each.is_file()]
    if not files:
        return ""
    total = hashlib.sha256()
    for file in sorted(files, key=lambda each: each.name):
        try:
            total.update(f"{file.name}\n{_digest(file)}\n".encode())
        except OSError as error:
            raise CheckpointError(f"{file.name} cannot be read: {error.strerror}.") from error
    return total.hexdigest()


def is_marked(path: Path, begins: str) -> bool:
    """Tell whether a checkpoint's fingerprint begins so, or one that its weights had earlier, under
    other words (`About.earlier`). Raises CheckpointError.
    """
    return fingerprint(path).startswith(begins) or is_earlier(
        describe_checkpoint(path).about, begins
    )


def is_earlier(about: About, begins: str) -> bool:
    """Tell whether a fingerprint that these weights had earlier begins so."""
    return any(each.startswith(begins) for each in about.earlier)


def _digest(file: Path) -> str:
    digest = hashlib.sha256()
    with file.open("rb") as stream:
        while chunk := stream.read(CHUNK):
            digest.update(chunk)
    return digest.hexdigest()


# The files of a checkpoint as they stand on disk: their version and their size.


def version_of(path: Path) -> int:
    """Another number for a checkpoint whose files were written, replaced or removed; 0: no files.

    Not their latest time alone: what takes a file's place may be older.
    """
    stats = _files(path)
    marks = tuple((each.st_ino, each.st_size, each.st_mtime_ns) for each in stats)
    return hash(marks) if marks else 0


def size_of(path: Path) -> int:
    """Return the size of a checkpoint's files, in bytes."""
    return sum(each.st_size for each in _files(path))


def _files(path: Path) -> list[os.stat_result]:
    """Return the state of the files that are there: any may be gone at any time."""
    configured = _stat(path / CONFIG)
    format = _format(path, configured.st_mtime_ns if configured else 0)
    try:
        stats = map(_stat, format.files(path) if format else ())
        return [each for each in stats if each is not None]
    except Refusal:
        return []


def _stat(file: Path) -> os.stat_result | None:
    try:
        return file.stat()
    except (OSError, ValueError):
        return None


@lru_cache(maxsize=256)
def _format(path: Path, configured: int) -> Format | None:
    """The format of a path, whose configuration was written then: this is asked at every rerun."""
    try:
        return find_format(path)
    except Refusal:
        return None
