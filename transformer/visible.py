"""Characters that cannot be seen, or that hide and reorder others, by a sign or their number."""

import unicodedata

_NAMED = {" ": "␣", "\n": "⏎", "\t": "⇥"}
_HIDDEN = ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")
_KEPT = " \u200c\u200d\u2060"


def visible(text: str) -> str:
    """Words within a sentence or a list, with a sign for each character that hides or reorders.

    What only shapes letters, as Persian needs it, stays.

    >>> visible("a\\u202eb c")
    'aU+202Eb c'
    """
    return "".join(each if each in _KEPT else visible_character(each) for each in text)


def visible_character(character: str) -> str:
    """One character by itself, a space too.

    >>> visible_character(" "), visible_character("\\x1b"), visible_character("e")
    ('␣', 'U+001B', 'e')
    """
    if character in _NAMED:
        return _NAMED[character]
    is_hidden = unicodedata.category(character) in _HIDDEN
    return f"U+{ord(character):04X}" if is_hidden else character
