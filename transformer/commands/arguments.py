"""Arguments that several commands take."""

from argparse import ArgumentParser, ArgumentTypeError
from pathlib import Path

from transformer.formats.locating import locate

MOST_THREADS = 1024
OTHERS = ".gz .html .json .jsonl .md .npz .ods .parquet .pdf .png .svg .tsv .xls .xlsx .zip"
"""Endings of other formats than that of a table's file."""


def add_checkpoint(parser: ArgumentParser) -> None:
    """The checkpoint that a command is about."""
    help = (
        "a folder, a name in checkpoints/ or one on Hugging Face's hub; BASE::ADAPTER adds a LoRA "
        "adapter"
    )
    parser.add_argument("checkpoint", type=checkpoint, help=help)


def add_data(parser: ArgumentParser, help: str, required: bool = True) -> None:
    """The file of sentences that a command reads."""
    parser.add_argument("--data", type=Path, required=required, metavar="FILE", help=help)


def checkpoint(text: str) -> Path:
    """A folder as it stands, a shipped one's name or one on the hub; or two such.

    Raises CheckpointError where the hub does not give it.
    """
    return locate(text)


def named_folder(text: str) -> Path:
    """A folder to write into: not what a shell's empty variable is. Raises ArgumentTypeError."""
    if not text:
        raise ArgumentTypeError("must name a folder")
    return Path(text)


def new_file(text: str) -> Path:
    """A file to write; a folder is refused before the work. Raises ArgumentTypeError."""
    if not text:
        raise ArgumentTypeError("must name a file")
    if Path(text).is_dir():
        raise ArgumentTypeError("must name a file, and is a folder")
    return Path(text)


def csv_file(text: str) -> Path:
    """The same of a table, whose ending says no other format. Raises ArgumentTypeError."""
    file = new_file(text)
    if (
        file.suffix.lower() in OTHERS.split()
    ):  # not any other: a name such as run-1.2 has a point, too
        raise ArgumentTypeError("is written as CSV: end its name in .csv")
    return file


def threads(text: str) -> int:
    """Threads of the processor: thousands end the process, in torch. Raises ArgumentTypeError."""
    number = positive(text)
    if number > MOST_THREADS:
        raise ArgumentTypeError(f"must be at most {MOST_THREADS:,}")
    return number


def positive(text: str) -> int:
    """A whole number from 1. Raises ArgumentTypeError."""
    number = int(text)
    if not 1 <= number < 10**9:
        raise ArgumentTypeError("must be at least 1 and below a billion")
    return number
