"""A sheet as PDF and PNG, by matplotlib, and on a slide of 16:9."""

import io
import unicodedata
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock
from types import SimpleNamespace
from typing import Any

from transformer.extras import require
from viz.paper.sheet import (
    INCH,
    Box,
    Cells,
    Line,
    Mark,
    Sheet,
    Words,
    moved,
    width_of,
)
from viz.paper.svg import curve, runs
from viz.paper.typefaces import FAMILY, drop_layout, spread, subset_of, usual

# A sheet as PDF and PNG, by matplotlib: typefaces embedded, text selectable, no browser needed.
#
# The same sheet and state give the same bytes: nothing holds a date.

_CIRCLE = "\N{DOTTED CIRCLE}"
DOTS = 300
"""Pixels per inch of a PNG."""
_one_at_a_time = Lock()
"""matplotlib's settings are those of the process."""
_SETTINGS: Any = {
    "pdf.fonttype": 42,  # TrueType: publishers refuse Type 3
    "font.family": [FAMILY],
    "text.parse_math": False,  # a "$" in a text is a "$"
    "text.usetex": False,
    "axes.unicode_minus": False,
    "path.simplify": False,
}


def pdf(sheet: Sheet, title: str, description: str, state: str) -> bytes:
    """One page of the figure's size; state is kept among the document's keywords."""
    texts = {"Title": title, "Subject": description, "Keywords": state, "Creator": "Headscope"}
    return _saved(sheet, "pdf", {**texts, "CreationDate": None, "Producer": "matplotlib"})


def png(sheet: Sheet, title: str, description: str, state: str, dots: int = DOTS) -> bytes:
    """Pixels; title, description and state are kept as texts of the file. dots: pixels per inch."""
    words = {
        "Title": title,
        "Description": description,
        "Headscope": state,
        "Software": "Headscope",
    }
    return _saved(sheet, "png", words, dpi=dots)


def _saved(sheet: Sheet, kind: str, metadata: dict[str, Any], **look: Any) -> bytes:
    require("paper")
    import matplotlib  # takes half a second: only when a figure is made
    from matplotlib.figure import Figure

    with (
        _one_at_a_time,
        matplotlib.rc_context(_SETTINGS),
        warnings.catch_warnings(),
        _typefaces(sheet) as families,
    ):
        # A character that no typeface has is drawn as a box, and stays text.
        warnings.filterwarnings("ignore", "Glyph .* missing from font", UserWarning)
        warnings.filterwarnings("ignore", "Matplotlib currently does not support", UserWarning)
        figure = Figure((sheet.width / INCH, sheet.height / INCH), facecolor=sheet.background)
        _draw(sheet, figure, families)
        file = io.BytesIO()
        with _each_glyph_spelled_once(), _typefaces_without_layout():
            figure.savefig(file, format=kind, metadata=metadata, facecolor=sheet.background, **look)
    return file.getvalue()


@contextmanager
def _typefaces(sheet: Sheet) -> Iterator[Sequence[list[str]]]:
    """Let matplotlib know the faces of plain and of bold words, under names that nobody else has.

    Of all but DejaVu Sans it is given the characters alone that are drawn: collections, variable
    typefaces and cubic outlines are then as any other.
    """
    from matplotlib.font_manager import FontEntry, fontManager

    entries: list[Any] = []
    families: list[list[str]] = []
    with TemporaryDirectory(prefix="headscope-", ignore_cleanup_errors=True) as folder:
        for is_bold in (False, True):
            words = (it.text for it in sheet.marks if isinstance(it, Words))
            names = []
            for face, used in spread(words, is_bold).items():
                if face == usual(is_bold):
                    names.append(FAMILY)
                    continue
                file = Path(folder) / f"{len(entries)}.ttf"
                file.write_bytes(subset_of(face, used, keeps_names=True))
                names.append(f"{folder} {len(entries)}")
                look = "bold" if is_bold else "normal"  # else matplotlib says that none is
                entries.append(FontEntry(str(file), name=names[-1], weight=look))
            families.append(names if FAMILY in names else [*names, FAMILY])
        fontManager.ttflist.extend(entries)
        try:
            yield families
        finally:
            for entry in entries:
                fontManager.ttflist.remove(entry)


@contextmanager
def _each_glyph_spelled_once() -> Iterator[None]:
    """Let copied text hold each character once: matplotlib gives every glyph its whole cluster."""
    from matplotlib.backends import backend_pdf

    module: Any = backend_pdf
    helpers = module._text_helpers
    layout = helpers.layout
    helpers.layout = lambda text, *rest, **look: _spelled_once(text, layout(text, *rest, **look))
    try:
        yield
    finally:
        helpers.layout = layout


@contextmanager
def _typefaces_without_layout() -> Iterator[None]:
    """Embed the shapes of glyphs alone: where each stands is decided by then."""
    from fontTools import subset

    module: Any = subset
    load = module.load_font

    def loaded(*of: Any, **look: Any) -> Any:
        font = load(*of, **look)
        drop_layout(font)
        return font

    module.load_font = loaded
    try:
        yield
    finally:
        module.load_font = load


def _spelled_once(text: str, glyphs: Iterable[Any]) -> Iterator[Any]:
    """Share the characters of each cluster out among its glyphs, in the order they are drawn in."""
    for cluster, group in groupby(glyphs, key=lambda glyph: glyph.char):
        items = list(group)
        n_clusters = next(n for n in range(len(items), 0, -1) if n == 1 or cluster * n in text)
        per = max(1, len(items) // n_clusters)
        for i, item in enumerate(items):
            yield _respelled(item, _share(cluster, i % per, per))


def _share(cluster: str, i: int, n_glyphs: int) -> str:
    """Return the characters of the i-th of the glyphs of a cluster."""
    is_leftward = unicodedata.bidirectional(cluster[0]) in ("R", "AL")
    i = n_glyphs - 1 - i if is_leftward else i
    return cluster[i:] if i == n_glyphs - 1 else cluster[i : i + 1]


def _respelled(item: Any, characters: str) -> Any:
    if characters == item.char:
        return item
    # A glyph more than characters: the circle that stands for the letter below a lone mark.
    names = ("ft_object", "glyph_index", "x", "y", "prev_kern")
    values = {name: getattr(item, name) for name in names}
    return SimpleNamespace(**values, char=characters or _CIRCLE)


def _draw(sheet: Sheet, figure: Any, families: Sequence[list[str]]) -> None:
    from matplotlib.transforms import Affine2D

    down = Affine2D().scale(1 / INCH, -1 / INCH).translate(0, sheet.height / INCH)
    place = down + figure.dpi_scale_trans
    _cells(figure, [mark for mark in sheet.marks if isinstance(mark, Cells)], place)
    for order, mark in enumerate(sheet.marks):
        look = {"transform": place, "zorder": order + 1}
        match mark:
            case Box():
                _box(figure, mark, look)
            case Line():
                _line(figure, mark, look)
            case Words():
                _words(figure, mark, {**look, "fontfamily": families[mark.is_bold]})


def _box(figure: Any, box: Box, look: dict[str, Any]) -> None:
    from matplotlib.patches import Rectangle

    figure.add_artist(
        Rectangle(
            (box.x, box.y),
            box.width,
            box.height,
            facecolor=box.fill or "none",
            edgecolor=box.frame or "none",
            linewidth=box.thick if box.frame else 0,
            alpha=None if box.opacity == 1 else box.opacity,
            joinstyle="miter",
            **look,
        )
    )


def _cells(figure: Any, maps: list[Cells], place: Any) -> None:
    """All maps below everything else, one path per colour: a grid has a hundred thousand cells."""
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path

    quads: dict[str, list[tuple[float, float]]] = {}
    for cells in maps:
        for colour, boxes in runs(cells):
            for x, y, width, height in boxes:
                right, low = x + width, y + height
                corners = ((x, y), (right, y), (right, low), (x, low), (x, y))
                quads.setdefault(colour, []).extend(corners)
    codes = [Path.MOVETO, Path.LINETO, Path.LINETO, Path.LINETO, Path.CLOSEPOLY]
    for colour in sorted(quads):
        path = Path(quads[colour], codes * (len(quads[colour]) // 5))
        look = {"transform": place, "facecolor": colour, "linewidth": 0, "snap": False}
        figure.add_artist(PathPatch(path, **look, zorder=0))


def _line(figure: Any, line: Line, look: dict[str, Any]) -> None:
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path

    points: list[tuple[float, float]] = []
    codes: list[Any] = []
    for part in line.parts:
        course = curve(part) if line.is_curve else part
        points += course
        codes += [Path.MOVETO] + [Path.CURVE4 if line.is_curve else Path.LINETO] * (len(course) - 1)
    thick = max(line.thick, 0.1)
    dashes: Any = "solid"
    if line.dashes:  # matplotlib counts them in widths of the line
        dashes = (0, tuple(each / thick for each in line.dashes))
    figure.add_artist(
        PathPatch(
            Path(points, codes),
            facecolor="none",
            edgecolor=line.colour,
            linewidth=thick,
            linestyle=dashes,
            alpha=None if line.opacity == 1 else line.opacity,
            capstyle="butt",
            **look,
        )
    )


def _words(figure: Any, words: Words, look: dict[str, Any]) -> None:
    from matplotlib.text import Text

    figure.add_artist(
        Text(
            words.x,
            words.y,
            words.text,
            fontsize=words.size,
            color=words.colour,
            ha={"start": "left", "middle": "center", "end": "right"}[words.anchor],
            va="baseline",
            rotation=90 if words.is_upward else 0,
            rotation_mode="anchor",
            fontweight="bold" if words.is_bold else "normal",
            parse_math=False,
            **look,
        )
    )


# A figure on a slide of 16:9: drawn as for a paper, then enlarged until the slide is full.
#
# Drawn at the slide's own width it would have the small letters of a paper on a large sheet.

WIDE, HIGH = 40 / 3, 7.5
"""Inches of a slide of 16:9, as programs for slides have it."""
EDGE = 18.0
"""Points that stay free around the figure."""
NARROW, BROAD = 3.3, 6.9
"""Inches: the least and the most that it is drawn for."""
STEPS = 4
MOST = 4.0
"""It becomes at most so many times as large: words of three letters are no headline."""


def slide(draw: Callable[[float], Sheet]) -> Sheet:
    """Return the slide. draw: inches of width -> the figure on a sheet of its own size."""
    widths = [NARROW + (BROAD - NARROW) * i / (STEPS - 1) for i in range(STEPS)]
    sheets = [draw(width) for width in widths]
    sheet = max(sheets, key=lambda each: _filled(*extent(each.marks)))
    left, top, right, bottom = extent(sheet.marks)
    times = _times(left, top, right, bottom)
    x, y = (
        WIDE * INCH / 2 - times * (left + right) / 2,
        HIGH * INCH / 2 - times * (top + bottom) / 2,
    )
    marks = tuple(moved(enlarged(sheet.marks, times), x, y))
    return Sheet(WIDE * INCH, HIGH * INCH, sheet.background, marks)


def _times(left: float, top: float, right: float, bottom: float) -> float:
    across, down = WIDE * INCH - 2 * EDGE, HIGH * INCH - 2 * EDGE
    return min(MOST, across / (right - left), down / (bottom - top))


def _filled(left: float, top: float, right: float, bottom: float) -> float:
    """Return the area that it takes, in square points."""
    return _times(left, top, right, bottom) ** 2 * (right - left) * (bottom - top)


def extent(marks: Iterable[Mark]) -> tuple[float, float, float, float]:
    """Left, top, right and bottom of what is drawn."""
    boxes = [_box_slide(mark) for mark in marks]
    lefts, tops, rights, bottoms = zip(*boxes, strict=True)
    return min(lefts), min(tops), max(rights), max(bottoms)


def _box_slide(mark: Mark) -> tuple[float, float, float, float]:
    if isinstance(mark, Line):
        points = [point for part in mark.parts for point in part]
        xs, ys = [x for x, _ in points], [y for _, y in points]
        return min(xs), min(ys), max(xs), max(ys)
    if not isinstance(mark, Words):
        return mark.x, mark.y, mark.x + mark.width, mark.y + mark.height
    length = width_of(mark.text, mark.size, mark.is_bold)
    before = {"start": 0.0, "middle": 0.5, "end": 1.0}[mark.anchor] * length
    if mark.is_upward:
        return mark.x - mark.size, mark.y + before - length, mark.x, mark.y + before
    return mark.x - before, mark.y - mark.size, mark.x - before + length, mark.y + mark.size / 4


def enlarged(marks: Iterable[Mark], times: float) -> list[Mark]:
    """The same marks, so many times as large."""
    return [_enlarged(mark, times) for mark in marks]


def _enlarged(mark: Mark, times: float) -> Mark:
    if isinstance(mark, Line):
        parts = tuple(tuple((times * x, times * y) for x, y in part) for part in mark.parts)
        dashes = tuple(times * each for each in mark.dashes)
        return replace(mark, parts=parts, thick=times * mark.thick, dashes=dashes)
    x, y = times * mark.x, times * mark.y
    if isinstance(mark, Words):
        return replace(mark, x=x, y=y, size=times * mark.size)
    width, height = times * mark.width, times * mark.height
    if isinstance(mark, Box):
        thick = times * mark.thick
        return replace(mark, x=x, y=y, width=width, height=height, thick=thick)
    return replace(mark, x=x, y=y, width=width, height=height)
