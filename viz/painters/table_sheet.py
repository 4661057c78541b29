"""Tables on a sheet: the same cells, shades and numbers as on the screen, in points."""

import numpy as np

from viz.exhibits.table import Legend, Table, Tables, as_tables
from viz.painters.shades import N_LEVELS, colour_at, stops_of
from viz.painters.table_marks import marks_of
from viz.paper.lettering import NORMAL, SMALL, broken, fitted, width_of
from viz.paper.sheet import Box, Cells, Mark, Sheet, Words, moved
from viz.theme import Theme

LINE = 8.0
"""Points from one line of a text to the next."""
GAP = 12.0
"""Between tables that stand beside each other, and between lines of them."""
BEFORE = 4.0
"""Between a table and what stands below it."""
BAR = (64.0, 5.0)
"""Width and height of a scale."""


def table_sheet(content: Table | Tables, theme: Theme, width: float) -> Sheet:
    """Tables beside each other as far as there is room, as wide as this in points."""
    tables = as_tables(content)
    marks, low = _heading(tables, theme, width)
    x = y = 0.0
    if tables.legend is not None:
        legend, high = _legend(tables.legend, theme, width)
        marks, low = [*marks, *moved(legend, 0.0, low)], low + high
    is_begun = False  # whether a table stands in this line
    for table in tables:
        drawn, size = marks_of(table, theme, width)
        if not is_begun or x + size[0] > width:
            x, y = 0.0, low + (GAP / 2 if marks else 0.0)
        marks += moved(drawn, x, y)
        x, low, is_begun = x + size[0] + GAP, max(low, y + size[1]), True
        if table.below:
            line = f"{table.below} {table.result}".strip()
            foot = _lines(broken(line, width, SMALL), 0.0, theme)
            marks += moved(foot, 0.0, low + BEFORE)
            low, is_begun = low + BEFORE + len(foot) * LINE + 1, False
    return Sheet(width, low + 1, theme.background, tuple(marks))


def _heading(tables: Tables, theme: Theme, width: float) -> tuple[list[Mark], float]:
    """The sentence above all tables and the line below it; and how high they are."""
    marks: list[Mark] = []
    low = 0.0
    for text, size, ink in (
        (tables.title, NORMAL, theme.text),
        (tables.remark, SMALL, theme.dim),
    ):
        for line in broken(text, width, size) if text else ():
            marks.append(Words(0, low + size, line, size, ink))
            low += LINE + size - SMALL
    return marks, low + BEFORE if marks else low


def _legend(legend: Legend, theme: Theme, width: float) -> tuple[list[Mark], float]:
    """The scale between what its ends are; and how high it is."""
    stops = stops_of(legend.scale, theme)
    x = width_of(legend.low, SMALL) + (4 if legend.low else 0)
    steps = np.arange(0, N_LEVELS, 2, dtype=np.int16)[None]
    colours = tuple(colour_at(stops, i / (N_LEVELS - 1)) for i in range(N_LEVELS))
    marks: list[Mark] = [
        Words(0, SMALL, legend.low, SMALL, theme.dim),
        Cells(x, 1, *BAR, steps, colours),
        Box(x, 1, *BAR, None, theme.dim, 0.4),
    ]
    x += BAR[0] + 4
    lines = _begun(f"{legend.high} {legend.says}".strip(), width - x, width)
    return marks + _lines(lines, x, theme), len(lines) * LINE + 1


def _lines(lines: list[str], x: float, theme: Theme) -> list[Mark]:
    """One below the other. x: of the first one."""
    return [
        Words(0 if i else x, SMALL + i * LINE, line, SMALL, theme.dim)
        for i, line in enumerate(lines)
    ]


def _begun(text: str, room: float, width: float) -> list[str]:
    """Lines of which the first has less room."""
    words = text.split(" ")
    n = len(words)
    while n > 1 and width_of(" ".join(words[:n]), SMALL) > room:
        n -= 1
    rest = " ".join(words[n:])
    return [fitted(" ".join(words[:n]), room, SMALL), *(broken(rest, width, SMALL) if rest else ())]
