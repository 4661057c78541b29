"""A stranger's JSON, read in one place: one limit, and one sentence where it is damaged."""

import json
from pathlib import Path
from typing import Any

from transformer.checkpoint import CheckpointError
from transformer.files.foreign_file import place, read_file
from transformer.files.foreign_text import reason, whole_text

LARGEST = 2**24
"""Bytes of a configuration that are read."""


def read_json(file: Path, most: int = LARGEST) -> Any:
    """The values of a JSON file, texts without half characters.

    most: bytes that are read. Raises CheckpointError, which names the folder and the file.
    """
    try:
        return whole_text(json.loads(read_file(file, most).decode("utf-8")))
    except (ValueError, RecursionError) as error:
        raise CheckpointError(f"{place(file)} cannot be read: {reason(error)}.") from error
