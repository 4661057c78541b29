"""Characters that cannot be seen, or that hide and reorder others, by a sign or their number."""

import re
import unicodedata

_NAMED = {" ": "␣", "\n": "⏎", "\t": "⇥"}
_HIDDEN = ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")
_JOINED = re.compile(
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
    joined = {i for match in _JOINED.finditer(text) for i in range(*match.span())}
    return "".join(
        each if i in joined or each in plain else _visible_character(each)
        for i, each in enumerate(text)
    )


def _visible_character(character: str) -> str:
    if character in _NAMED:
        return _NAMED[character]
    is_hidden = unicodedata.category(character) in _HIDDEN
    return f"U+{ord(character):04X}" if is_hidden else character
