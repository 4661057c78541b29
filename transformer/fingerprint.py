"""The mark of a checkpoint among all others: the SHA-256 of the files that it is read from."""

import hashlib
from pathlib import Path

from transformer.checkpoint import About, CheckpointError
from transformer.formats.opening import describe_checkpoint, format_of

CHUNK = 2**20
"""Bytes that are read at a time."""


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
