"""Several figures on one sheet: in rows of equal height, with letters, title and citation."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from string import ascii_lowercase

from viz.paper.figure import MARGIN, NARROWEST, PAGE, Figure
from viz.paper.printed import enlarged, extent
from viz.paper.record import FigureError, Record, versions
from viz.paper.sheet import INCH, NORMAL, Mark, Sheet, Words, broken, moved

MOST = len(ascii_lowercase)
LETTER, TITLE = 9.0, 10.0
"""Points of a panel's letter, and of the title."""
GAP, BETWEEN = 12.0, 14.0
"""Points between the panels of a row, and between rows."""
SMALLEST = 0.75
"""A panel is drawn at most so much smaller than by itself: its letters stay legible."""
SHARES = (1.0, 0.85, 0.7, 0.6)
"""Shares of a figure's own width that it is drawn in, to be as high as its neighbours."""
Marks = tuple[list[Mark], float, float]
"""A drawing from (0, 0) on, its width and its height, in points."""


def panels_figure(
    figures: Sequence[Figure], title: str = "", citation: str = "", width: float = PAGE
) -> Figure:
    """One figure of several. title, citation: above and below them; with either of them each
    panel's caption stands below, too. width: in inches. Raises FigureError.
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
        return _sheet(figures, points, title, below)

    return Figure(draw, record, width, font=first.font, theme=first.theme)


def _sheet(figures: Sequence[Figure], width: float, title: str, below: Sequence[str]) -> Sheet:
    ground, ink = figures[0].sheet(figures[0].width).background, _ink(figures)
    marks: list[Mark] = []
    y = 0.0
    for line in broken(title, width, TITLE) if title else []:
        y += TITLE + 2
        marks.append(Words(0, y, line, TITLE, ink, is_bold=True))
    y += BETWEEN * bool(title)
    letter = iter(ascii_lowercase)
    for row in _rows([_drawn(it, width) for it in figures], width):
        high = _height(row, width)
        x = 0.0
        for panel, wide, tall in row:
            times = high / tall
            marks.append(Words(x, y + LETTER, next(letter), LETTER, ink, is_bold=True))
            marks += moved(enlarged(panel, times), x, y + LETTER + 4)
            x += wide * times + GAP
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


def _drawn(figure: Figure, most: float) -> list[Marks]:
    """A figure in its own width and in narrower ones, without the room around it."""
    widest = min(figure.width, (most + 2 * MARGIN) / INCH)
    widths = [max(NARROWEST, share * widest) for share in SHARES]
    panels = []
    for inches in dict.fromkeys(widths):
        marks = replace(figure, is_slide=False).sheet(inches).marks
        left, top, right, bottom = extent(marks)
        panels.append((moved(marks, -left, -top), right - left, bottom - top))
    return panels


def _rows(every: Sequence[list[Marks]], width: float) -> Iterator[list[Marks]]:
    """Put as many in a row as stay legible at one height."""
    row: list[list[Marks]] = []
    for drawn in every:
        longer = _alike([*row, drawn])
        if row and min(_height(longer, width) / tall for *_, tall in longer) < SMALLEST:
            yield _alike(row)
            row = []
        row.append(drawn)
    yield _alike(row)


def _alike(row: Sequence[list[Marks]]) -> list[Marks]:
    """Choose of each figure the drawing that is about as high as the lowest of the others."""
    low = min(drawn[0][2] for drawn in row)
    return [min(drawn, key=lambda it: abs(it[2] - low)) for drawn in row]


def _height(row: Sequence[Marks], width: float) -> float:
    """The height at which a row is as wide as the sheet; no panel becomes larger."""
    room = width - GAP * (len(row) - 1)
    shares = sum(wide / tall for _, wide, tall in row)
    return min(room / shares, *(tall for *_, tall in row))
