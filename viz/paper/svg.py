"""A sheet as SVG: text stays text, in a typeface that is in the file; nothing is fetched or run.

What a mark stands for is kept beside it as data-...; a map's cells as one list of numbers, row by
row, with "nan" where a mask forbids one.
"""

import json
from base64 import b64encode
from collections.abc import Iterable, Iterator
from html import escape

import numpy as np

from viz.paper.sheet import (
    Box,
    Cells,
    Facts,
    Line,
    Mark,
    Sheet,
    Words,
    is_leftward,
)
from viz.paper.typefaces import FAMILY, spread, subset_of

_OVERLAP = 0.2
"""Points by which a cell reaches under the next one: no hairline stays between them."""


def svg(sheet: Sheet, title: str, description: str, state: str) -> bytes:
    """The file. title, description: for those who do not see it; state: kept as metadata."""
    size = f'width="{_n(sheet.width)}pt" height="{_n(sheet.height)}pt"'
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" '
        f'viewBox="0 0 {_n(sheet.width)} {_n(sheet.height)}">',
        f"<title>{_text(title)}</title>",
        f"<desc>{_text(description)}</desc>",
        f"<metadata>{_text(state)}</metadata>",
        f"<style>{_style(sheet)}</style>",
        f'<rect width="100%" height="100%" fill="{sheet.background}"/>',
        *(line for mark in sheet.marks for line in _mark(mark)),
        "</svg>",
    ]
    return "\n".join(lines).encode() + b"\n"


def _text(text: str) -> str:
    """Return a text as an element holds it: no controls, and ">" written out; joiners stay."""
    return escape("".join(c if c.isprintable() or _joins(c) else " " for c in text), quote=True)


def _joins(character: str) -> bool:
    return character in "\u200c\u200d" or "\U000e0020" <= character <= "\U000e007f"


def _n(number: float) -> str:
    return f"{number:.2f}".rstrip("0").rstrip(".")


def _style(sheet: Sheet) -> str:
    texts = [mark for mark in sheet.marks if isinstance(mark, Words)]
    faces: list[str] = []
    families: dict[str, None] = {}
    for is_bold in (False, True):
        weight = "bold" if is_bold else "normal"
        for face, used in spread(
            (it.text for it in texts if it.is_bold == is_bold), is_bold
        ).items():
            family = "".join(c for c in face.family if c.isalnum() or c in " -")
            families[f"'{family}'"] = None
            content = b64encode(subset_of(face, used)).decode()
            faces.append(
                f"@font-face{{font-family:'{family}';font-weight:{weight};"
                f"src:url(data:font/ttf;base64,{content})}}"
            )
    order = ",".join(families or {f"'{FAMILY}'": None})
    # Browsers round the places of letters to their hints, and gaps then open within words.
    look = "white-space:pre;text-rendering:geometricPrecision"
    return f"text{{font-family:{order},Verdana,sans-serif;{look}}}{''.join(faces)}"


def _mark(mark: Mark) -> Iterator[str]:
    match mark:
        case Box():
            yield _box(mark)
        case Cells():
            yield from _cells(mark)
        case Line():
            yield _line(mark)
        case Words():
            yield _words(mark)


def _facts(facts: Facts) -> str:
    return "".join(f' data-{name.replace("_", "-")}="{_fact(it)}"' for name, it in facts.items())


def _fact(value: object) -> str:
    if isinstance(value, np.ndarray):
        return " ".join(f"{each:.9g}" for each in value.ravel().tolist())
    if isinstance(value, float):
        return f"{value:.9g}"
    return _text(value if isinstance(value, str) else json.dumps(value))


def _box(box: Box) -> str:
    look = f'fill="{box.fill or "none"}"'
    if box.frame:
        look += f' stroke="{box.frame}" stroke-width="{_n(box.thick)}"'
    if box.opacity < 1:
        look += f' opacity="{_n(box.opacity)}"'
    size = f'width="{_n(box.width)}" height="{_n(box.height)}"'
    return f'<rect x="{_n(box.x)}" y="{_n(box.y)}" {size} {look}{_facts(box.facts)}/>'


def _cells(cells: Cells) -> Iterator[str]:
    yield f"<g{_facts(cells.facts)}>"
    for colour, corners in runs(cells):
        path = "".join(
            f"M{_n(x)} {_n(y)}h{_n(width)}v{_n(height)}h{_n(-width)}z"
            for x, y, width, height in corners
        )
        yield f'<path fill="{colour}" d="{path}"/>'
    yield "</g>"


def runs(cells: Cells) -> Iterator[tuple[str, list[tuple[float, float, float, float]]]]:
    """Each colour with its boxes: cells of one colour that stand side by side are one box."""
    n_rows, n_columns = cells.levels.shape
    down, across = cells.height / n_rows, cells.width / n_columns
    boxes: dict[int, list[tuple[float, float, float, float]]] = {}
    for row, levels in enumerate(cells.levels.tolist()):
        start = 0
        for column in range(1, n_columns + 1):
            if column < n_columns and levels[column] == levels[start]:
                continue
            right = _OVERLAP if column < n_columns else 0
            below = _OVERLAP if row < n_rows - 1 else 0
            width, height = (column - start) * across + right, down + below
            box = (cells.x + start * across, cells.y + row * down, width, height)
            boxes.setdefault(levels[start], []).append(box)
            start = column
    for level in sorted(boxes):
        if level >= 0:
            yield cells.colours[level], boxes[level]


def _line(line: Line) -> str:
    path = "".join(_curve(part) if line.is_curve else _straight(part) for part in line.parts)
    look = f'fill="none" stroke="{line.colour}" stroke-width="{_n(line.thick)}"'
    if line.opacity < 1:
        look += f' stroke-opacity="{line.opacity:.3f}"'
    if line.dashes:
        look += f' stroke-dasharray="{" ".join(map(_n, line.dashes))}"'
    return f'<path d="{path}" {look}{_facts(line.facts)}/>'


def _straight(part: Iterable[tuple[float, float]]) -> str:
    return "".join(f"{'L' if i else 'M'}{_n(x)} {_n(y)}" for i, (x, y) in enumerate(part))


def _curve(part: tuple[tuple[float, float], ...]) -> str:
    (x, y), (a, b), (c, d), (u, v) = curve(part)
    return f"M{_n(x)} {_n(y)}C{_n(a)} {_n(b)} {_n(c)} {_n(d)} {_n(u)} {_n(v)}"


def curve(part: tuple[tuple[float, float], ...]) -> tuple[tuple[float, float], ...]:
    """From the first point to the last, level at both ends: the four points of a cubic curve."""
    (x, y), (u, v) = part[0], part[-1]
    return (x, y), (x + (u - x) / 3, y), (u - (u - x) / 3, v), (u, v)


def _words(words: Words) -> str:
    look = f'font-size="{_n(words.size)}" fill="{words.colour}"'
    anchor: str = words.anchor
    if is_leftward(words.text):  # where it starts and ends is then said from the right
        look += ' direction="rtl"'
        anchor = {"start": "end", "middle": "middle", "end": "start"}[anchor]
    if anchor != "start":
        look += f' text-anchor="{anchor}"'
    if words.is_bold:
        look += ' font-weight="bold"'
    if words.is_upward:
        look += f' transform="rotate(-90 {_n(words.x)} {_n(words.y)})"'
    text = escape(words.text, quote=False)
    return f'<text x="{_n(words.x)}" y="{_n(words.y)}" {look}{_facts(words.facts)}>{text}</text>'
