"""Marian's vocab.yml: a YAML map of piece to id, a line each, and no other YAML."""

import re

from transformer.files.foreign_text import shown

LONGEST = 1000
"""Characters of a line."""
LINE = re.compile(r"""("(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|[^\s"'].*?) *: +(\d{1,9})\s*""")
"""`piece: id`, the piece in quotes of either kind or in none."""
ESCAPE = re.compile(r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(.))")
CHARACTERS = {
    **{"n": "\n", "t": "\t", "r": "\r", "0": "\0", "a": "\a", "b": "\b", "e": "\x1b"},
    **{"f": "\f", "v": "\v", "N": "\x85", "_": "\xa0", "L": "\u2028", "P": "\u2029"},
}
"""What YAML's one-letter escapes stand for; any other character stands for itself."""


def yaml_ids(text: str) -> dict[str, int]:
    """piece -> id. Raises ValueError for a line that is something else.

    >>> yaml_ids("</s>: 0\\n'it''s': 1")
    {'</s>': 0, "it's": 1}
    """
    ids: dict[str, int] = {}
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip() or line.startswith(("# ", "---", "...")):
            continue
        match = LINE.fullmatch(line) if len(line) <= LONGEST else None
        if match is None:
            raise ValueError(f"line {number} is no piece with its id: {shown(line, 40)}")
        ids[_unquoted(match[1])] = int(match[2])
    return ids


def _unquoted(piece: str) -> str:
    """A YAML scalar as text."""
    if piece.startswith("'"):
        return piece[1:-1].replace("''", "'")
    return ESCAPE.sub(_character, piece[1:-1]) if piece.startswith('"') else piece


def _character(escape: re.Match[str]) -> str:
    digits = escape[1] or escape[2] or escape[3]
    return chr(int(digits, 16)) if digits else CHARACTERS.get(escape[4], escape[4])
