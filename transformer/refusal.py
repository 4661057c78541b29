"""The base of every error that a person can mend: it ends in one sentence, never in a traceback."""

from collections.abc import Iterable, Mapping
from typing import Any

from transformer.visible import visible

LONGEST = 900
"""Characters of a message."""


def quoted(value: object, longest: int = 60) -> str:
    """A value within a message, cut to a length that can be read.

    >>> quoted("beam"), quoted(7), quoted("a" * 5000, 8)
    ("'beam'", '7', "'aaaaaaa…")
    """
    try:
        text = repr(value)
    except ValueError:  # Python writes no whole number of more than 4,300 digits
        text = "a number of thousands of digits"
    return text if len(text) <= longest else f"{text[:longest]}…"


def items_of(values: Any) -> list[Any] | None:
    """The items of a list, or of whatever gives them one by one; None where that is another thing.

    Characters, bytes and the keys of a mapping are no items, though Python would count them up.

    >>> items_of((1, 2)), items_of("ab"), items_of({1: 2}), items_of(5)
    ([1, 2], None, None, None)
    """
    is_other = isinstance(values, str | bytes | bytearray | memoryview | Mapping)
    if is_other or not isinstance(values, Iterable):
        return None
    try:
        return list(values)
    except TypeError:  # a tensor or an array without axes
        return None


class Refusal(Exception):
    """Something that is not done; the message is one sentence that says why, or what to change.

    Screens and the command line catch this one class and show what it says. What is quoted may be
    of any length: a message keeps its beginning and its end.
    """

    def __init__(self, message: str) -> None:
        # A name from a file may hold what ends a line, steers a terminal, or is half a character.
        message = visible(message)
        if len(message) > LONGEST:
            message = f"{message[: LONGEST * 2 // 3]} … {message[-LONGEST // 3 :]}"
        super().__init__(message)
