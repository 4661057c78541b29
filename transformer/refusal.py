"""The base of every error that a person can mend, and characters that cannot be seen."""

import re
import unicodedata
from collections.abc import Iterable, Mapping
from typing import Any

# Characters that cannot be seen, or that hide and reorder others, by a sign or their number.

NAMED = {" ": "␣", "\n": "⏎", "\t": "⇥"}
"""The signs of those that have one."""
HIDDEN = ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")
"""The categories of Unicode whose characters cannot be seen."""
JOINED = re.compile(
    r"(?<=[\u0590-\u1fff\u2070-\u2fff\u3001-\U0001ffff])[\u200c\u200d]"
    r"(?=[\u0590-\u1fff\u2070-\u2fff\u3001-\U0001ffff])"
    r"|(?<=\N{WAVING BLACK FLAG})[\U000e0020-\U000e007e]+\U000e007f"
)
"""Joiners between two characters that they join, as Persian, Hindi and emoji need them: no letter
of Latin, Greek or Cyrillic (all below U+0590) is; and the tags of a flag (Unicode Technical
Standard 51, section 1.4)."""
BETWEEN_WORDS = " \u2060"
"""A space is one there, and a word joiner keeps Markdown from reading signs."""


def visible(text: str, plain: str = BETWEEN_WORDS) -> str:
    """Return a text with a sign for each character that hides or reorders, but those in `plain`.

    What only shapes letters and emoji stays where it stands between two that it joins.

    >>> visible("a\\u202eb c"), visible("a b", ""), visible("a\\u200d")
    ('aU+202Eb c', 'a␣b', 'aU+200D')
    """
    if text.isprintable() and (" " not in text or " " in plain):
        return text  # most are: none of its characters hides, and a joiner is not printable
    joined = {i for match in JOINED.finditer(text) for i in range(*match.span())}
    return "".join(
        each if i in joined or each in plain else _visible_character(each)
        for i, each in enumerate(text)
    )


def _visible_character(character: str) -> str:
    if character in NAMED:
        return NAMED[character]
    is_hidden = unicodedata.category(character) in HIDDEN
    return f"U+{ord(character):04X}" if is_hidden else character


# The base of every error that a person can mend: it ends in one sentence, never in a traceback.

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
