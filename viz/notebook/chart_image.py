"""A chart on a wall: drawn as for a paper, without Plotly's code, live and where no server is."""

import html
import io
from base64 import b64encode
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from viz.exhibits.chart import Chart
from viz.painters.chart_sheet import SHAPE, sheet
from viz.paper.printed import png
from viz.paper.sheet import INCH, Sheet
from viz.theme import Theme

WIDTH = 6.2
"""Inches: then the least type of a figure is 24 px where this is as wide as 1920 px of a wall."""
TALLEST = 0.3
"""Its share of the width: the area between the axes. A wall is wide, and words stand above."""
BESIDE = 0.21
"""The same of a chart in a column, above which more may stand."""


GAP = 0.055
"""Its share of the page's width: between two columns of a wall."""


@dataclass(frozen=True, eq=False)
class ChartImage:
    """A chart that a page shows as an image."""

    sheet: Callable[[Theme, float], Sheet]
    """In which colours, and for how much of the page's width -> what is drawn."""
    says: str
    """The alternative text."""


def chart_images(charts: Sequence[ChartImage], themes: Sequence[Theme]) -> str:
    """Side by side, an image for each theme: the page's style shows that of its own."""
    share = (1 - GAP * (len(charts) - 1)) / max(1, len(charts))
    return "".join(
        _boxed(_image(chart.sheet(each, share), chart.says, each.name) for each in themes)
        for chart in charts
    )


def chart_image(chart: Chart, theme: Theme, says: str, share: float = 1.0) -> str:
    """The image of a chart in the colours of the page.

    share: of the page's width, for it.
    """
    return _boxed([_image(sheet_of(chart, theme, share), says, "")])


def sheet_of(chart: Chart, theme: Theme, share: float) -> Sheet:
    """A chart for so much of the page's width."""
    width = WIDTH * INCH
    shape, tallest = (SHAPE, TALLEST) if share == 1 else (BESIDE / share, BESIDE)
    return sheet(chart, theme, share * width, shape, tallest * width)


def _boxed(images: Iterable[str]) -> str:
    return f'<div class="printed">{"".join(images)}</div>'


def _image(sheet: Sheet, says: str, theme: str) -> str:
    from PIL import Image  # with matplotlib: only when a figure is made

    file = io.BytesIO()
    with Image.open(io.BytesIO(png(sheet, "", says, ""))) as image:
        image.convert("RGB").save(file, "WEBP", lossless=True, method=2)  # half of a PNG
    source = f"data:image/webp;base64,{b64encode(file.getvalue()).decode()}"
    return f'<img class="{theme}" alt="{html.escape(says)}" src="{source}">'
