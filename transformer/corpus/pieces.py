r"""Pieces of a text in one line, a space between; a space within a piece is written `\s`.

A model of characters has the space itself as a piece.
"""

import re
from collections.abc import Iterable


def joined(pieces: Iterable[str]) -> str:
    r"""Write pieces in one line.

    >>> joined(["a", " ", "b"])
    'a \\s b'
    """
    return " ".join(piece.replace("\\", "\\\\").replace(" ", "\\s") for piece in pieces)


def split(line: str) -> list[str]:
    r"""Read the pieces of such a line.

    >>> split("a \\s b")
    ['a', ' ', 'b']
    """
    return [re.sub(r"\\(.)", _read, piece, flags=re.DOTALL) for piece in line.split(" ")]


def _read(escape: re.Match[str]) -> str:
    return " " if escape[1] == "s" else escape[1]
