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
        shown = repr(value)
    except ValueError:  # Python writes no whole number of more than 4,300 digits
        shown = "a number of thousands of digits"
    return shown if len(shown) <= longest else f"{shown[:longest]}…"


class Refusal(Exception):
    """Something that is not done; the message is one sentence that says why, or what to change.

    Screens and the command line catch this one class and show what it says. What is quoted may be
    of any length: a message keeps its beginning and its end.
    """

    def __init__(self, said: str) -> None:
        # A name from a file may hold what ends a line, steers a terminal, or is half a character.
        said = visible(said)
        if len(said) > LONGEST:
            said = f"{said[: LONGEST * 2 // 3]} … {said[-LONGEST // 3 :]}"
        super().__init__(said)
