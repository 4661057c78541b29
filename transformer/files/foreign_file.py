"""A stranger's file that is read into memory whole: of an honest size, or not at all."""

from pathlib import Path

from transformer.checkpoint import CheckpointError


def place(file: Path) -> str:
    """What a sentence about a file begins with: its folder and its name."""
    return f"{file.parent.name}: {file.name}"


def read_file(file: Path, most: int) -> bytes:
    """What it holds. most: bytes, at most. Raises CheckpointError, which names folder and file."""
    if not file.is_file():  # a pipe would be waited for
        raise CheckpointError(f"{place(file)} is missing.")
    try:
        size = file.stat().st_size
        if size > most:
            raise CheckpointError(
                f"{place(file)} is too large: {size:,} bytes, where at most {most:,} are read."
            )
        return file.read_bytes()
    except OSError as error:
        raise CheckpointError(f"{place(file)} cannot be read: {error}.") from error
