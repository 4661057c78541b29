"""The streams of a command: UTF-8, since what a model reads and writes is seldom ASCII."""

import errno
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import TextIOWrapper, UnsupportedOperation
from pathlib import Path
from typing import TextIO

from transformer.inputs import InputError
from transformer.refusal import Refusal, quoted

STDIN = "-"


def write_utf8() -> None:
    """Write UTF-8 into files and pipes, whatever a locale or Windows says of them.

    A terminal keeps the encoding that it shows, and PYTHONIOENCODING is a person's own word. What
    has no form there is "?" in a result; in errors, which Python escapes, nothing is lost.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            encoding = stream.encoding if stream.isatty() or _is_said() else "utf-8"
            would_fail = stream.errors in ("strict", "surrogateescape")
            stream.reconfigure(encoding=encoding, errors="replace" if would_fail else stream.errors)


def _is_said() -> bool:
    """Tell whether a person has said the encoding of all streams."""
    return bool(os.environ.get("PYTHONIOENCODING", "").partition(":")[0])


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
    name = "standard input" if file == STDIN else quoted(file)
    try:
        with _stdin() if file == STDIN else Path(file).open(encoding="utf-8") as lines:
            for number, line in enumerate(lines):
                yield (line if number else line.removeprefix("\ufeff")).rstrip("\r\n")
    except (OSError, UnicodeError) as error:
        reason = "it is not text in UTF-8" if isinstance(error, UnicodeError) else error.strerror
        raise InputError(f"{name} cannot be read: {reason or error}.") from error


@contextmanager
def _stdin() -> Iterator[TextIO]:
    """Python's standard input, which notebooks and others put one of their own in the place of."""
    if sys.stdin is None:
        raise OSError(errno.EBADF, "it is closed")
    if isinstance(sys.stdin, TextIOWrapper) and not _is_said():
        with suppress(UnsupportedOperation):  # somebody has read its first line
            sys.stdin.reconfigure(encoding="utf-8", errors="strict")
    yield sys.stdin
