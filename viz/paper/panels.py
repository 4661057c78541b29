"""Several figures on one sheet: in rows of equal height, with letters, title and citation."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from string import ascii_lowercase

from viz.paper.figure import MARGIN, NARROWEST, PAGE, Figure
from viz.paper.printed import enlarged, extent
from viz.paper.record import FigureError, Record, versions
from viz.paper.sheet import INCH, NORMAL, Mark, Sheet, Words, broken, fitted, moved

MOST = len(ascii_lowercase)
LETTER, TITLE = 9.0, 10.0
"""Points of a panel's letter, and of the title."""
GAP, BETWEEN = 12.0, 14.0
"""Points between the panels of a row, and between rows."""
SMALLEST = 0.75
"""A panel is drawn at most so much smaller than by itself: its letters stay legible."""
SHARES = (1.0, 0.85, 0.7, 0.6)
"""Shares of a figure's own width that it is drawn in, to be as high as its neighbours."""


@dataclass(frozen=True, eq=False)
class Panel:
    """A figure drawn in one width, from (0, 0) on, in points."""

    figure: Figure
    share: int
    """The number of its width among SHARES."""
    marks: list[Mark]
    wide: float
    tall: float


def panels_figure(
    figures: Sequence[Figure],
    title: str = "",
    citation: str = "",
    width: float = PAGE,
    columns: int | None = None,
) -> Figure:
    """One figure of several. title, citation: above and below them; with either of them each
    panel's caption stands below, too. width: in inches. columns: figures of a row; None: as many
    as stay legible. Raises FigureError.
    """
    if not 1 <= len(figures) <= MOST:
        raise FigureError(f"A sheet has 1 to {MOST} pictures, and here are {len(figures)}.")
    first = figures[0]
    captions = [
        f"({c}) {it.record.caption}" for c, it in zip(ascii_lowercase, figures, strict=False)
    ]
    whole = " ".join(filter(None, (title and f"{title}.", *captions, citation)))
    name = title or "; ".join(it.record.title for it in figures)
    record = Record("explore", "", "", "", "", "", name, whole, versions())

    def draw(points: float) -> Sheet:
        below = [*captions, citation] if title or citation else []
        return _sheet(figures, points, title, below, columns)

    return Figure(draw, record, width, font=first.font, theme=first.theme)


def _sheet(
    figures: Sequence[Figure], width: float, title: str, below: Sequence[str], columns: int | None
) -> Sheet:
    ground, ink = figures[0].sheet(figures[0].width).background, _ink(figures)
    marks: list[Mark] = []
    y = 0.0
    for line in broken(title, width, TITLE) if title else []:
        y += TITLE + 2
        marks.append(Words(0, y, line, TITLE, ink, is_bold=True))
    y += BETWEEN * bool(title)
    letter = iter(ascii_lowercase)
    for row, high in _placed(figures, width, columns):
        x = 0.0
        for panel in row:
            times = high / panel.tall
            wide = panel.wide * times
            name = fitted(panel.figure.name, max(0.0, wide - 1.5 * LETTER), NORMAL)
            marks.append(Words(x, y + LETTER, next(letter), LETTER, ink, is_bold=True))
            if name:
                marks.append(Words(x + 1.5 * LETTER, y + LETTER, name, NORMAL, ink))
            marks += moved(enlarged(panel.marks, times), x, y + LETTER + 4)
            x += (wide if columns is None else _room(width, columns)) + GAP
        y += LETTER + 4 + high + BETWEEN
    for text in filter(None, below):
        for line in broken(text, width, NORMAL):
            y += NORMAL + 2
            marks.append(Words(0, y - 2, line, NORMAL, ink))
        y += 3
    return Sheet(width, y, ground, tuple(marks))


def _ink(figures: Sequence[Figure]) -> str:
    """The colour of words in the first of them."""
    words = (it for it in figures[0].sheet(figures[0].width).marks if isinstance(it, Words))
    return next((it.colour for it in words), "#000000")


def _placed(
    figures: Sequence[Figure], width: float, columns: int | None
) -> list[tuple[list[Panel], float]]:
    """The rows, each with its height. Figures of one component are as large in all rows."""
    if columns is None:
        rows = [*_rows([_drawn(it, width) for it in figures], width)]
    else:
        room = _room(width, columns)
        every = [_drawn(it, room) for it in figures]
        rows = [every[i : i + columns] for i in range(0, len(every), columns)]
    alike = [_alike(row) for row in rows]
    share: dict[str, int] = {}
    for of in chain(*alike):
        share[of.figure.component] = max(share.get(of.figure.component, 0), of.share)
    share.pop("", None)
    chosen = [
        [drawn[share.get(of.figure.component, of.share)] for drawn, of in zip(*pair, strict=True)]
        for pair in zip(rows, alike, strict=True)
    ]
    heights = [_height(row, width, columns) for row in chosen]
    times: dict[str, float] = {}
    for row, high in zip(chosen, heights, strict=True):
        for of in row:
            times[of.figure.component] = min(times.get(of.figure.component, 1.0), high / of.tall)
    times.pop("", None)
    return [
        (row, min([high, *(times.get(of.figure.component, 1.0) * of.tall for of in row)]))
        for row, high in zip(chosen, heights, strict=True)
    ]


def _room(width: float, columns: int) -> float:
    return (width - GAP * (columns - 1)) / columns


def _drawn(figure: Figure, most: float) -> list[Panel]:
    """A figure in its own width and in narrower ones, without the room around it."""
    widest = min(figure.width, (most + 2 * MARGIN) / INCH)
    panels = []
    for number, share in enumerate(SHARES):
        marks = replace(figure, is_slide=False).sheet(max(NARROWEST, share * widest)).marks
        left, top, right, bottom = extent(marks)
        box = (moved(marks, -left, -top), right - left, bottom - top)
        panels.append(Panel(figure, number, *box))
    return panels


def _rows(every: Sequence[list[Panel]], width: float) -> Iterator[list[list[Panel]]]:
    """Put as many in a row as stay legible at one height."""
    row: list[list[Panel]] = []
    for drawn in every:
        longer = _alike([*row, drawn])
        if row and _height(longer, width) / max(it.tall for it in longer) < SMALLEST:
            yield row
            row = []
        row.append(drawn)
    yield row


def _alike(row: Sequence[list[Panel]]) -> list[Panel]:
    """Choose of each figure the drawing that is about as high as the lowest of the others."""
    low = min(drawn[0].tall for drawn in row)
    return [min(drawn, key=lambda it: abs(it.tall - low)) for drawn in row]


def _height(row: Sequence[Panel], width: float, columns: int | None = None) -> float:
    """The height at which a row is as wide as the sheet; no panel becomes larger."""
    if columns is not None:
        return min(
            _room(width, columns) * min(it.tall / it.wide for it in row), *(it.tall for it in row)
        )
    room = width - GAP * (len(row) - 1)
    return min(room / sum(it.wide / it.tall for it in row), *(it.tall for it in row))
