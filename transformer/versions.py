"""The files of a checkpoint as they stand on disk: their version and their size."""

import os
from functools import lru_cache
from pathlib import Path

from transformer.checkpoint import CONFIG
from transformer.formats.format import Format
from transformer.formats.opening import find_format
from transformer.refusal import Refusal


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
