"""Heads of a layer as arrows between two columns of words."""

import math
from collections.abc import Iterator

import numpy as np

from viz.exhibits.chart import even, rooted
from viz.map_words import uncapitalised
from viz.paper.sheet import (
    MIDDLE,
    NORMAL,
    SMALL,
    Data,
    Drawing,
    Line,
    Mark,
    Sheet,
    Words,
    fitted,
    width_of,
)

PITCH, LEAST_PITCH = 10.5, 5.2
"""Points from one word to the next; less where a long text would not fit a page."""
TALLEST = 620.0
"""Points of all words together."""
THIN, THICKER = 0.3, 1.0
"""Points of a line of weight 0, and how much thicker one of weight 1 is."""
UNSEEN = 1e-3
"""Share of the scale below which a line would not show."""
PALE = 0.12
"""Opacity of a line that is not of a pinned word."""
DASHES: tuple[tuple[float, ...], ...] = ((), (4, 1.5), (1, 1.2), (5, 1.2, 1, 1.2), (2.2, 1.2))
"""Heads are told apart without colour, too: in turn."""
LANE = 0.9
"""Points between the lines of two heads that join the same words."""
NEGATIVE = (0.8, 1.6)

Cell = tuple[int, int, float]


def draw(data: Data, width: float) -> Sheet:
    """The lines that are on the screen, of the heads that are shown there, with what is pinned."""
    header, colours = data.header, data.colours
    rows, columns = header["rows"], header["columns"]
    n = max(len(rows), len(columns), 1)
    pitch = min(PITCH, max(LEAST_PITCH, TALLEST / n))
    size = min(NORMAL, max(SMALL, 0.72 * pitch))
    heads = data.state["heads"] if header["per_head"] else [0]
    marks: list[Mark] = list(_legend(data, heads, width)) if len(heads) > 1 else []
    top = 12.0 if marks else 0.0
    room = 0.34 * width
    pins = set(data.state["pins"])
    sides = [
        max((width_of(it, size, f"{c}{i}" in pins) for i, (it, _) in enumerate(side)), default=0)
        for c, side in (("q", rows), ("k", columns))
    ]
    titles = [width_of(title, SMALL) for title in header["titles"]]
    left = max(min(room, sides[0]), titles[0]) + 4
    right = width - max(min(room, sides[1]), titles[1]) - 4
    if len(heads) == 1 and "hidden" in header:  # as on the page
        says = header["hidden"][heads[0]]
        is_between = width_of(says, SMALL) < right - left
        at = ((left + right) / 2 if is_between else width / 2, top + SMALL)
        marks.append(Words(*at, fitted(says, width, SMALL), SMALL, colours["dim"], "middle"))
        top += 0 if is_between else SMALL + 2
    for x, anchor, title in zip(
        (left - 4, right + 4), ("end", "start"), header["titles"], strict=True
    ):
        marks.append(Words(x, top + SMALL, title, SMALL, colours["dim"], anchor))  # type: ignore[arg-type]
    top += SMALL + 5
    middle = [top + (i + 0.5) * pitch for i in range(n)]
    for ends, place in zip(
        ((0.0, left - 4), (right + 4, width)), header.get("second", (0, 0)), strict=True
    ):
        if place:
            line = tuple((x, top + place * pitch) for x in ends)
            marks.append(Line((line,), colours["grid"], 0.5))
    marks += _lines(data, heads, (left, right), middle)
    for letter, tokens, x, anchor in (
        ("q", rows, left - 4, "end"),
        ("k", columns, right + 4, "start"),
    ):
        held = {i for i in range(len(tokens)) if f"{letter}{i}" in pins}
        for i in _named(len(tokens), pitch / size, held):
            text, special = tokens[i]
            is_pinned = i in held
            colour = colours["dim"] if special else colours["text"]
            words = fitted(text, room, size, is_pinned)
            marks.append(
                Words(x, middle[i] + MIDDLE * size, words, size, colour, anchor, is_pinned)  # type: ignore[arg-type]
            )
    return Sheet(width, top + n * pitch + 2, colours["background"], tuple(marks))


def _named(n: int, room: float, held: set[int]) -> list[int]:
    """Choose words of n to write, each with room for so many lines; the held ones always."""
    every = max(1, math.ceil(1.05 / room))
    others = (i for i in range(0, n, every) if every == 1 or all(abs(i - j) >= every for j in held))
    return sorted({*held, *others})


def _legend(data: Data, heads: list[int], width: float) -> Iterator[Mark]:
    x = 0.0
    for i, head in enumerate(heads):
        name = f"H{head}"
        if x + 15 + width_of(name, SMALL) > width:
            yield Words(x, SMALL, "…", SMALL, data.colours["dim"])
            return
        yield Line((((x, 4.0), (x + 12, 4.0)),), _colour(data, heads, head), 1.0, 1.0, _dashes(i))
        yield Words(x + 14, SMALL, name, SMALL, data.colours["text"])
        x += 22 + width_of(name, SMALL)


def _dashes(place: int) -> tuple[float, ...]:
    return DASHES[place % len(DASHES)]


def _colour(data: Data, heads: list[int], head: int) -> str:
    """One head is drawn in ink, several in colours of their own."""
    if len(heads) == 1:
        return str(data.state["ink"])
    colours = data.state["colours"]
    return str(colours[head % len(colours)])


def law(data: Data) -> str:
    """Lines have two ways to be strong."""
    what = uncapitalised(data.header["lens"]["title"])
    opaque = "" if data.is_linear else " the square root of"
    return f"A line is as wide as its {what} says, and as opaque as{opaque} that."


def _lines(
    data: Data, heads: list[int], across: tuple[float, float], middle: list[float]
) -> Iterator[Line]:
    header, pins = data.header, set(data.state["pins"])
    lens = header["lens"]["name"]
    lines = []
    for i, head in enumerate(heads):
        colour = _colour(data, heads, head)
        for row, column, value in _strongest(data, head):
            share = min(1.0, abs(value) / (header["bound"] or 1))
            if share < UNSEEN:
                continue
            dashes = NEGATIVE if value < 0 else _dashes(i) if len(heads) > 1 else ()
            is_held = not pins or f"q{row}" in pins or f"k{column}" in pins
            lane = LANE * (i - (len(heads) - 1) / 2)
            ends = ((across[0], middle[row] + lane), (across[1], middle[column] + lane))
            facts = {"head": head, "row": row, "column": column, lens: value}
            opacity = (even if data.is_linear else rooted)(share) * (1 if is_held else PALE)
            thick = THIN + THICKER * share
            lines.append((is_held, Line((ends,), colour, thick, opacity, dashes, True, facts)))
    yield from (line for is_held, line in lines if not is_held)
    yield from (line for is_held, line in lines if is_held)


def _strongest(data: Data, head: int) -> Iterator[Cell]:
    """Yield the strongest cells of each row of a head, as many as the screen shows."""
    per_row = data.state["lines"] or None
    dense = len(data.arrays) == 1
    values = data.arrays[0 if dense else 1][head]
    for row, of_row in enumerate(values):
        sizes = np.nan_to_num(np.abs(of_row))
        order = np.argsort(-sizes, kind="stable")[:per_row]
        for place in sorted(int(each) for each in order if sizes[each] > 0):
            column = place if dense else int(data.arrays[0][head, row, place])
            yield row, column, float(of_row[place])


DRAWING = Drawing("head_view", draw, 3.3, law)
