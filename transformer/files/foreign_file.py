"""A file of a stranger's checkpoint, read into memory whole: as bytes, as JSON, as YAML."""

import codecs
import json
from pathlib import Path
from typing import Any

from transformer.checkpoint import CheckpointError
from transformer.files.foreign_text import clean, reason, whole_text
from transformer.files.regular_file import read_of_checkpoint
from transformer.files.weights import Misfit

# A file of a stranger's checkpoint, read into memory whole: of an honest size, or not at all.


def place(file: Path) -> str:
    """Return the beginning of a sentence about a file: its folder, if it has one, and its name."""
    return ": ".join(filter(None, (file.parent.name, file.name)))


def read_file(file: Path, most: int) -> bytes:
    """Read it. most: bytes, at most. Raises CheckpointError, which names folder and file."""
    try:
        return read_of_checkpoint(file, most)
    except Misfit as error:
        raise CheckpointError(f"{place(file)} {error}.") from error


# A stranger's JSON, read in one place: one limit, and one sentence where it is damaged.

LARGEST = 2**24
"""Bytes of a configuration that are read."""


def read_json(file: Path, most: int = LARGEST) -> Any:
    """The values of a JSON file, texts without half characters.

    most: bytes that are read. Raises CheckpointError, which names the folder and the file.
    """
    content = read_file(file, most)
    try:
        return whole_text(json.loads(content.decode("utf-8")))
    except (ValueError, RecursionError) as error:
        why = _instead(content) or f"cannot be read: {reason(error)}"
        raise CheckpointError(f"{place(file)} {why}.") from error


def _instead(content: bytes) -> str:
    """Say what a file holds in place of JSON, after its name, and what to do; "": JSON, damaged."""
    if not content.strip(b"\0 \t\r\n"):
        return "is empty: fetch or write it again"
    if content.startswith((codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "begins with a mark of the order of bytes: save it as UTF-8 without one"
    if content.lstrip()[:1] in (b"{", b"["):
        return ""
    beginning = content.decode("utf-8", "replace").strip().partition("\n")[0]
    return f"holds no values of JSON, but text that begins {clean(beginning, 40)!r}"
