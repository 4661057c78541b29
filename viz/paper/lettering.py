"""The width of words in the figures' typeface, DejaVu Sans, which comes with matplotlib."""

import unicodedata
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import Any

from transformer.extras import require

SMALL, NORMAL = 6.0, 7.0
"""Points: of what explains, and of words."""
FAMILY = "DejaVu Sans"
MIDDLE = 0.36
"""Share of the size, from the baseline up to the middle of letters."""


def file_of(is_bold: bool = False) -> Path:
    """The file of the typeface. Raises NotInstalled where matplotlib is not here."""
    require("paper")
    import matplotlib  # takes half a second: only when a figure is made

    name = "DejaVuSans-Bold.ttf" if is_bold else "DejaVuSans.ttf"
    return Path(matplotlib.get_data_path()) / "fonts" / "ttf" / name


def drop_layout(font: Any) -> None:
    """Drop what joins and shifts letters of a TTFont: cutting it takes longer than all the rest."""
    for table in ("GDEF", "GPOS", "GSUB", "kern"):
        if table in font:
            del font[table]


@lru_cache(maxsize=2)
def _face(is_bold: bool) -> tuple[dict[int, int], Any]:
    """character -> glyph, and the widths of glyphs in units of an em."""
    file = file_of(is_bold)
    from fontTools.ttLib import TTFont  # which comes with matplotlib

    with TTFont(file, lazy=True) as font:
        em = font["head"].unitsPerEm
        widths = {name: width / em for name, (width, _) in font["hmtx"].metrics.items()}
        return dict(font.getBestCmap()), widths


@lru_cache(maxsize=20_000)
def width_of(text: str, size: float = NORMAL, is_bold: bool = False) -> float:
    """In points; a character that the typeface lacks is as wide as it is high."""
    glyphs, widths = _face(is_bold)
    each = (widths[glyphs[ord(c)]] if ord(c) in glyphs else 1.0 for c in text)
    return size * sum(each)


def lacking(texts: Iterable[str]) -> list[str]:
    """Characters that the typeface has no shape for, in order: boxes stand in their places."""
    glyphs, _ = _face(False)
    letters = {c for text in texts for c in text if c.isprintable() and ord(c) not in glyphs}
    return sorted(letters)


def fitted(text: str, room: float, size: float = NORMAL, is_bold: bool = False) -> str:
    """Return the text, or as much of it as there is room for, and an ellipsis."""
    if width_of(text, size, is_bold) <= room:
        return text
    n = len(text) - 1
    while n > 0 and (_joins(text, n) or width_of(text[:n] + "…", size, is_bold) > room):
        n -= 1
    return text[:n] + "…"


def _joins(text: str, n: int) -> bool:
    """Tell whether the n-th character belongs to the one before it."""
    return text[n - 1] == "\u200d" or unicodedata.category(text[n]) in ("Mn", "Mc", "Me", "Cf")


def broken(text: str, room: float, size: float = NORMAL) -> list[str]:
    """The text in lines of at most this width, broken between words."""
    lines: list[str] = []
    for word in text.split(" "):
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and width_of(longer, size) <= room:
            lines[-1] = longer
        else:
            lines.append(fitted(word, room, size))
    return lines


def is_leftward(text: str) -> bool:
    """Tell whether a text runs to the left: its first letter decides.

    >>> is_leftward("1. שלום"), is_leftward("a שלום"), is_leftward("1")
    (True, False, False)
    """
    kinds = map(unicodedata.bidirectional, text)
    return next((kind for kind in kinds if kind in ("L", "R", "AL")), "L") != "L"
