"""A chart of a scene where no server is: drawn as for a paper, once for each theme."""

import html
from base64 import b64encode
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from plotly.graph_objects import Figure

from viz.paper.plotted import plotted
from viz.paper.printed import png
from viz.paper.sheet import INCH
from viz.theme import Theme

WIDTH = 5.2
"""Inches: type that is read on paper is as large on a wall then, as a part of the picture."""


@dataclass(frozen=True, eq=False)
class Chart:
    """What a page shows by Plotly."""

    title: str
    draw: Callable[[Theme], Figure]
    says: str
    """For those who do not see it."""


def printed(chart: Chart, themes: Iterable[Theme]) -> str:
    """An image for each theme, in a `div.printed`: the page's style shows that of its own theme."""
    images = "".join(
        f'<img class="{theme.name}" alt="{html.escape(chart.says)}" src="{_image(chart, theme)}">'
        for theme in themes
    )
    return f'<div class="printed">{images}</div>'


def _image(chart: Chart, theme: Theme) -> str:
    sheet = plotted(chart.draw(theme), WIDTH * INCH)
    content = png(sheet, chart.title, chart.says, "")
    return f"data:image/png;base64,{b64encode(content).decode()}"
