"""The base of every error that a person can mend: it ends in one sentence, never in a traceback."""

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
