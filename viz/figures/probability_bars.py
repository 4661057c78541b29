"""A bar per probability, one below the other, from 0 to 1."""

from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go

from viz.figures.layout import SMALL, axis, layout, rows_height
from viz.labels import percent
from viz.theme import Theme

TOP, BOTTOM, RIGHT = 44, 44, 64
"""Pixels for the title, for the axis, and for the text behind a bar that ends at 1."""


def draw(
    names: Sequence[str],
    probs: Sequence[float],
    best: int,
    theme: Theme,
    *,
    id: str,
    title: str,
    hover: str = "",
    customdata: Sequence[Any] | None = None,
) -> go.Figure:
    """The first one on top. best: the one in the accent; hover: what follows the probability."""
    height = rows_height(len(names)) + TOP + BOTTOM
    margin = {"t": TOP, "l": 8, "r": RIGHT, "b": BOTTOM}
    figure = go.Figure(layout=layout(theme, id, title, height=height, margin=margin, bargap=0.4))
    texts, places = [percent(prob) for prob in probs], list(range(len(names)))
    figure.add_trace(
        go.Bar(
            x=probs,
            y=places,
            orientation="h",
            marker={"color": [theme.accent if i == best else theme.dim for i in places]},
            text=texts,
            textposition="outside",
            textangle=0,
            textfont={"size": SMALL},
            cliponaxis=False,
            customdata=customdata,
            hovertemplate="%{y}: %{x:.4f} (%{text})" + hover + "<extra></extra>",
        )
    )
    figure.update_xaxes(axis(theme, "probability", range=[0, 1], grid=True, tickvals=[0, 0.5, 1]))
    labels = {"tickvals": places, "ticktext": names}
    figure.update_yaxes(axis(theme, "", range=[len(names) - 0.5, -0.5], **labels))
    return figure
