"""A chart on a wall: drawn as for a paper, without Plotly's code, live and where no server is."""

import html
from base64 import b64encode
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from plotly.graph_objects import Figure

from viz.paper.plotted import SHAPE, plotted
from viz.paper.printed import png
from viz.paper.sheet import INCH
from viz.theme import Theme

WIDTH = 6.2
"""Inches: then the least type of a figure is 24 px where this is as wide as 1920 px of a wall."""
TALLEST = 0.3
"""Of the width: what is between the axes. A wall is wide, and words stand above."""
BESIDE = 0.21
"""The same of a chart in a column, above which more may stand."""


@dataclass(frozen=True, eq=False)
class Chart:
    """What a page shows by Plotly."""

    draw: Callable[[Theme], Figure]
    says: str
    """For those who do not see it."""


def printed(chart: Chart, themes: Iterable[Theme]) -> str:
    """An image for each theme: the page's style shows that of its own."""
    return _boxed(_image(chart.draw(each), chart.says, each.name) for each in themes)


def printed_once(figure: Figure, says: str, share: float = 1.0) -> str:
    """The image of a figure that has been drawn in the colours of the page.

    share: of the page's width, for it.
    """
    return _boxed([_image(figure, says, "", share)])


def _boxed(images: Iterable[str]) -> str:
    return f'<div class="printed">{"".join(images)}</div>'


def _image(figure: Figure, says: str, theme: str, share: float = 1.0) -> str:
    width = WIDTH * INCH
    shape, tallest = (SHAPE, TALLEST) if share == 1 else (BESIDE / share, BESIDE)
    content = png(plotted(figure, share * width, shape, tallest * width), "", says, "")
    source = f"data:image/png;base64,{b64encode(content).decode()}"
    return f'<img class="{theme}" alt="{html.escape(says)}" src="{source}">'
