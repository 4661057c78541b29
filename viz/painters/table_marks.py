"""The cells of a table, and what stands above and beside them, as marks of a sheet."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from viz.exhibits.table import Table, named_numbers
from viz.painters.shades import luminance
from viz.painters.table_entries import Entry, entries_of
from viz.painters.table_shape import PAD, Shape, shape_of
from viz.paper.lettering import MIDDLE, NORMAL, broken, fitted, width_of
from viz.paper.sheet import Box, Line, Mark, Words
from viz.theme import Theme

Place = tuple[float, float, float, float]
"""Left, top, width and height."""
LINE = 8.0
"""Points from one line of a cell to the next."""
FAINT = 0.12
"""A shade whose luminance is as near to the ground's says next to nothing."""


def marks_of(content: Table, theme: Theme, width: float) -> tuple[list[Mark], tuple[float, float]]:
    """In points from its top left; and how wide and how high it is."""
    table = entries_of(content, theme)
    shape = shape_of(table, width)
    marks: list[Mark] = []
    y = 0.0
    if table.title:
        title = fitted(table.title, width, NORMAL, is_bold=True)
        marks.append(Words(0, NORMAL, title, NORMAL, theme.text, is_bold=True))
        y = NORMAL + 4
    wide = max(sum(shape.widths), width_of(table.title, NORMAL, is_bold=True))
    # Heads above nothing would say that something is to come; a sheet without a mark says nothing.
    has_heads = table.rows or content.kind == "map" or not (content.below or content.title)
    for row in table.heads if has_heads else ():
        high = _head_height(row, shape)
        marks += _heads(row, shape, y, high, theme)
        y += high
    above = [cell.lines[-1] for cell in table.heads[-1]] if table.heads else []
    for entries in table.rows:
        row = _broken(entries, shape)
        high = shape.row + LINE * (max(len(cell.lines) for cell in row) - 1)
        x, name = 0.0, row[0].lines[0]
        for i, (cell, across) in enumerate(zip(row, shape.widths, strict=False)):
            column = above[i] if i < len(above) else ""
            marks += _cell(cell, shape, (x, y, across, high), theme, (name, column))
            x += across
        y += high
    return marks, (wide, y)


def _broken(row: Sequence[Entry], shape: Shape) -> list[Entry]:
    """The same row, with the texts beside the numbers whole, in as many lines as that takes."""
    pairs = zip(row, shape.widths, strict=False)
    return [replace(cell, lines=tuple(_text_lines(cell, across, shape))) for cell, across in pairs]


def _text_lines(cell: Entry, across: float, shape: Shape) -> Sequence[str]:
    if cell.look != "text":
        return cell.lines
    return [part for line in cell.lines for part in broken(line, across - PAD, shape.size)]


def _head_height(row: Sequence[Entry], shape: Shape) -> float:
    if not shape.is_upright:
        columns = zip(row, shape.widths, strict=False)
        return 3.0 + LINE * max(len(_head_lines(cell, across, shape)) for cell, across in columns)
    longest = max((width_of(c.lines[0], shape.size) for c in row[1:] if not c.look), default=0.0)
    return min(60.0, longest) + 5.0


def _head_lines(cell: Entry, across: float, shape: Shape) -> list[str]:
    """Broken where a column is narrower than what stands above it."""
    return [part for line in cell.lines for part in broken(line, across, shape.size)]


def _heads(
    row: Sequence[Entry], shape: Shape, y: float, high: float, theme: Theme
) -> Iterator[Mark]:
    x, last = 0.0, len(row) - 1
    for i, (cell, across) in enumerate(zip(row, shape.widths, strict=False)):
        colour = theme.accent if cell.is_marked else theme.dim
        look: Any = {"is_bold": cell.is_marked}
        middle = x + across / 2
        is_up = (
            shape.is_upright and not cell.look and across < width_of(cell.lines[0], shape.size) + 2
        )
        if is_up and shape.size > across:  # of narrow columns as many as there is room for
            every = -(-int(shape.size + 1) // max(1, int(across)))
            is_up = i % every == 1
            if not is_up:
                x += across
                continue
        if is_up:
            text = fitted(cell.lines[0], high - 5, shape.size)
            at = (middle + MIDDLE * shape.size, y + high - 3)
            yield Words(*at, text, shape.size, colour, is_upward=True, **look)
        else:
            is_begun = i == 0 or (i == last and cell.look == "text")
            place = (x + PAD, "start") if is_begun else (middle, "middle")
            for n, line in enumerate(reversed(_head_lines(cell, across, shape))):
                text = fitted(line, across, shape.size)
                low = y + high - 3 - n * LINE
                yield Words(place[0], low, text, shape.size, colour, place[1], **look)  # type: ignore[arg-type]
        x += across


def _cell(
    cell: Entry,
    shape: Shape,
    place: Place,
    theme: Theme,
    named: tuple[str, str],
) -> Iterator[Mark]:
    x, y, across, high = place
    ink = theme.text
    if cell.ground:
        colour, ink = cell.ground
        facts: dict[str, Any] = {} if cell.value is None else _facts(cell, named)
        yield Box(x, y, across, high, colour, theme.grid, 0.3, facts=facts)
    if cell.is_marked and not cell.is_head:
        yield Box(x + 0.6, y + 0.6, across - 1.2, high - 1.2, None, theme.accent, 1.2)
    if cell.span:
        yield from _interval(cell, place, theme)
        return
    if cell.ground and (not shape.has_numbers or cell.lines == ("",)):
        if cell.value is not None and cell.value < 0 and _is_seen(cell.ground[0], theme):
            middle, half = y + high / 2, min(0.2 * across, 2.0)
            stroke = ((x + across / 2 - half, middle), (x + across / 2 + half, middle))
            yield Line((stroke,), ink, 0.5)
        return
    bold = cell.is_marked and cell.is_head
    colour = theme.accent if bold else ink
    top = y + (high - LINE * (len(cell.lines) - 1)) / 2 + MIDDLE * shape.size
    is_begun = cell.is_head or cell.look == "text"
    for i, line in enumerate(cell.lines):
        at = (x + PAD if is_begun else x + across / 2, top + i * LINE)
        text = fitted(line, across - (PAD if is_begun else 0), shape.size)
        anchor: Any = "start" if is_begun else "middle"
        own = {} if cell.ground or cell.value is None else _facts(cell, named)
        yield Words(*at, text, shape.size, colour, anchor, is_bold=bold, facts=own)


def _is_seen(shade: str, theme: Theme) -> bool:
    """Say whether a shade stands out from the ground without colour, too."""
    return abs(luminance(shade) - luminance(theme.background)) > FAINT


def _facts(cell: Entry, named: tuple[str, str]) -> dict[str, Any]:
    assert cell.value is not None
    return {"row": named[0], "column": named[1], **named_numbers(cell.value, cell.ends)}


def _interval(cell: Entry, place: Place, theme: Theme) -> Iterator[Mark]:
    """A value with its interval on a scale that all rows share, and where 0 is."""
    x, y, across, high = place
    zero, value, *ends = (x + PAD + each / 100 * (across - 2 * PAD) for each in cell.span)
    middle = y + high / 2
    yield Line((((zero, y), (zero, y + high)),), theme.grid, 0.6)
    if len(ends) == 2:
        yield Line((((ends[0], middle), (ends[1], middle)),), theme.dim, 0.8)
    yield Box(value - 1.4, middle - 1.4, 2.8, 2.8, theme.ink)
