"""The streams of a command: UTF-8, since what a model reads and writes is seldom ASCII."""

import os
import sys
from collections.abc import Iterator
from io import TextIOWrapper

from transformer.inputs import InputError
from transformer.refusal import Refusal, quoted

STDIN = "-"


def write_utf8() -> None:
    """Write UTF-8 into files and pipes, whatever a locale or Windows says of them.

    A terminal keeps the encoding that it shows. What neither has a form for is "?".
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            encoding = stream.encoding if stream.isatty() else "utf-8"
            stream.reconfigure(encoding=encoding, errors="replace")


def write_line(text: str) -> None:
    """Write a result to stdout, at once. Raises Refusal, as where a disk is full."""
    try:
        print(text, flush=True)
    except BrokenPipeError:  # whoever read it has enough
        raise
    except OSError as error:
        os.close(sys.stdout.fileno())  # what is left in its buffer is not tried again
        raise Refusal(f"the result cannot be written: {error.strerror}.") from error


def lines_as_they_come(file: str) -> Iterator[str]:
    """The lines of a file in UTF-8, or of - (standard input), without their ends.

    Raises InputError.
    """
    is_stdin = file == STDIN
    name = "standard input" if is_stdin else quoted(file)
    try:
        with open(0 if is_stdin else file, encoding="utf-8-sig", closefd=not is_stdin) as lines:
            yield from (line.rstrip("\r\n") for line in lines)
    except (OSError, UnicodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not text in UTF-8"
        raise InputError(f"{name} cannot be read: {reason}.") from error
