"""A file of a stranger's checkpoint, read into memory whole: of an honest size, or not at all."""

from pathlib import Path

from transformer.checkpoint import CheckpointError
from transformer.files.regular_file import read_of_checkpoint
from transformer.files.weights import Misfit


def place(file: Path) -> str:
    """Return the beginning of a sentence about a file: its folder and its name."""
    return f"{file.parent.name}: {file.name}"


def read_file(file: Path, most: int) -> bytes:
    """Read it. most: bytes, at most. Raises CheckpointError, which names folder and file."""
    try:
        return read_of_checkpoint(file, most)
    except Misfit as error:
        raise CheckpointError(f"{place(file)} {error}.") from error
