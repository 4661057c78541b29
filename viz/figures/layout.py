"""The frame that all figures share: fonts, backgrounds, axes with tokens."""

import math
import textwrap
import unicodedata
from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go

from transformer.tokenizer import Token
from viz.labels import figure_label, figure_text
from viz.theme import FONT, FONT_SIZE, Theme

MAX_LABELS = 64
"""An axis with more tokens labels every second, third, ... of them."""
SMALL = FONT_SIZE
"""Labels of tokens that stand close, and secondary text."""
ROW, CLOSE_ROW, MIN_ROW = 26, 16, 3
"""Pixels a row: with few tokens, with many, with more than can be labelled."""
GAP = 5
"""Pixels between an axis and its labels."""
COMFORTABLE, TALLEST = 520, 780
"""Pixels of the plotted area that rows share before they get closer, and at most."""


def layout(theme: Theme, id: str, title: str, **more: Any) -> go.Layout:
    """A layout without Plotly's template. id: what the figure shows, for tests in a browser."""
    return go.Layout(
        template="none",
        meta={"id": id},
        title={"text": title, "font": {"size": FONT_SIZE + 1}, "x": 0, "xanchor": "left"}
        | {"xref": "container", "yref": "container", "y": 1, "yanchor": "top"}
        | {"pad": {"l": 4, "t": 10}},
        font={"family": FONT, "size": FONT_SIZE, "color": theme.text},
        paper_bgcolor=theme.background,
        plot_bgcolor=theme.background,
        hoverlabel={
            "bgcolor": theme.surface,
            "bordercolor": theme.grid,
            "font": {"size": FONT_SIZE, "color": theme.text},
            "align": "left",
        },
        dragmode="zoom",
        **{"margin": {"l": 8, "r": 8, "t": 44, "b": 8}} | more,
    )


def axis(
    theme: Theme, title: str, *, grid: Any = False, hover: Any = "", **more: Any
) -> dict[str, Any]:
    """An axis that only says what is needed; labels are never clipped.

    grid: whether it has quiet lines. hover: what stands above the values of all curves at a place.
    """
    named = {"unifiedhovertitle": {"text": hover}} if hover else {}
    return {
        "title": {"text": title, "font": {"size": SMALL, "color": theme.dim}, "standoff": 8},
        "automargin": True,
        "showgrid": grid,
        "gridcolor": theme.grid,
        "zeroline": False,
        "showline": False,
        "ticks": "",
        "ticklabelstandoff": GAP,
        "ticklabeloverflow": "allow",  # Plotly would measure each label, several times over
        "tickfont": {"size": SMALL, "color": theme.text},
    } | (named | more)


def token_axis(theme: Theme, title: str, tokens: Sequence[Token], **more: Any) -> dict[str, Any]:
    """A numeric axis, one position a token, with pieces as labels: repeated tokens stay apart."""
    size = FONT_SIZE if len(tokens) <= COMFORTABLE // ROW else SMALL
    ticks = {
        "tickmode": "array",
        "tickvals": list(range(len(tokens))),
        "ticktext": [figure_label(token, theme.dim) for token in tokens],
        "tickfont": {"size": size, "color": theme.text},
        "showticklabels": len(tokens) <= MAX_LABELS,
    }
    return axis(theme, title, **ticks) | more


def label_width(text: str) -> int:
    """Pixels that a label takes at most in a common sans-serif font."""
    ems = (1.05 if unicodedata.east_asian_width(c) in "WF" else _EMS.get(c, 0.62) for c in text)
    return math.ceil(FONT_SIZE * sum(ems))


_EMS = dict.fromkeys("mwMWGOQ@%—…", 0.95) | dict.fromkeys("iljtf.,:;'|! ", 0.4)
"""Widths of characters that are not 0.62 of the font's size."""


def rows_height(n: int) -> int:
    """Pixels of the plotted area for n rows: roomy, then closer, then fixed."""
    if n * ROW <= COMFORTABLE:
        return max(n, 3) * ROW
    return max(COMFORTABLE, min(n * CLOSE_ROW, TALLEST), n * MIN_ROW)


def sentence(text: str, theme: Theme, id: str, title: str) -> go.Figure:
    """A figure that says why there is nothing to see."""
    figure = go.Figure(layout=layout(theme, id, title, height=200))
    figure.update_xaxes(visible=False)
    figure.update_yaxes(visible=False)
    figure.add_annotation(
        text="<br>".join(map(figure_text, textwrap.wrap(text, 44))),
        showarrow=False,
        x=0.5,
        y=0.5,
        xref="paper",
        yref="paper",
        font={"color": theme.dim},
    )
    return figure
