"""heatmap(): the one builder of every heatmap with tokens or positions on its axes."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import plotly.graph_objects as go
from torch import Tensor

from transformer.tokenizer import Token
from viz.figures.layout import (
    GAP,
    MAX_LABELS,
    SMALL,
    axis,
    label_width,
    layout,
    rows_height,
    token_axis,
)
from viz.labels import labels
from viz.theme import FONT_SIZE, Theme, plotly_scale

MAX_LEVEL = 6
"""Labels of columns stand upright from here on: level ones would meet in a narrow figure."""
NUMBERED = 400
"""Pixels of the plotted area, at most, when rows have numbers instead of tokens."""
TOP, BAR, LEVEL_BAR = 44, 76, 56
"""Pixels for the figure's title, and for the colour bar with its labels, upright or level."""
LINE, LABEL_SPACE = 36, (20, 240)
"""Pixels for an axis' title with the gaps around it; for its labels, at least and at most."""


@dataclass(frozen=True, eq=False)
class Side:
    """One axis of a heatmap: its title and, where they have any, the tokens along it."""

    title: str
    tokens: Sequence[Token] | None = None

    def axis(self, theme: Theme, **more: Any) -> dict[str, Any]:
        if self.tokens is None:
            return axis(theme, self.title, **more)
        return token_axis(theme, self.title, self.tokens, **more)


@dataclass(frozen=True, eq=False)
class Scale:
    """A colour scale with the values of its two ends."""

    title: str
    colours: list[str]
    low: float
    high: float
    clipped: bool = False
    """Whether values beyond the two ends may occur; they take the colours of the ends."""
    root: bool = False
    """Whether the shade shows the square root of a value: then small ones stay visible."""

    def level_bar(self, theme: Theme) -> dict[str, Any]:
        """The same above the cells, where it takes no width from them and reads as a line."""
        title = self.bar(theme)["title"] | {"side": "top"}
        place = {"x": 0, "xanchor": "left", "y": 1, "yanchor": "bottom", "ypad": 8}
        size = {"orientation": "h", "lenmode": "pixels", "len": 220}
        return self.bar(theme) | place | size | {"title": title}

    def bar(self, theme: Theme) -> dict[str, Any]:
        middle = (self.low + self.high) / 2
        below, above = ("≤ ", "≥ ") if self.clipped else ("", "")
        return {
            "title": {
                "text": self.title,
                "side": "right",
                "font": {"size": SMALL, "color": theme.dim},
            },
            "thickness": 10,
            "len": 0.6,
            "lenmode": "fraction",
            "x": 1.01,
            "xpad": 6,
            "outlinewidth": 0,
            "ticks": "",
            "tickvals": [self.low, middle, self.high],
            "ticktext": [
                f"{below}{self.low:.3g}".replace("-", "−"),
                f"{middle:.3g}",
                f"{above}{self.high:.3g}",
            ],
            "tickfont": {"size": SMALL, "color": theme.dim},
        }


def weight_scale(theme: Theme) -> Scale:
    """0 to 1, whatever the head: so that heads compare. Shaded as every weight on screen."""
    return Scale("weight (square-root scale)", theme.attention_scale, 0.0, 1.0, root=True)


def signed_scale(theme: Theme, title: str, bound: float = 1.0, clipped: bool = False) -> Scale:
    """-bound to bound, with 0 as the background."""
    return Scale(title, theme.difference_scale, -bound, bound, clipped)


def heatmap(
    values: Tensor,
    rows: Side,
    columns: Side,
    scale: Scale,
    theme: Theme,
    *,
    id: str,
    title: str,
    hover: str = "%{y} → %{x}: %{z:.4f}",
    masked: Tensor | None = None,
    square: bool = False,
    most_labels: int = MAX_LABELS,
) -> go.Figure:
    """values [Q, K] as a figure, row 0 on top.

    square: cells are as wide as high. most_labels: of a side; less than usual in a narrow figure.

    masked: bool [Q, K], True where a mask forbids the cell; such cells are left out of the scale,
    shown in the theme's colour for them, and say "masked".
    """
    values = values.float().cpu()
    traces = []
    if masked is not None and bool(masked.any()):
        traces.append(_under(masked, theme))
        values = values.masked_fill(masked, float("nan"))
    traces.append(
        go.Heatmap(
            z=values.numpy(),
            zmin=scale.low,
            zmax=scale.high,
            colorscale=plotly_scale(scale.colours, 2 if scale.root else 1),
            colorbar=scale.level_bar(theme) if square else scale.bar(theme),
            hovertemplate=hover + "<extra></extra>",
            hoverongaps=False,
        )
    )
    figure = cells_figure(
        traces,
        values.shape,
        rows,
        columns,
        theme,
        id=id,
        title=title,
        right=8 if square else BAR,
        most_columns=most_labels,
        most_rows=most_labels,
    )
    if square:
        make_square(figure)
        _make_room_above(figure, title, theme)
    return figure


def _make_room_above(figure: go.Figure, title: str, theme: Theme) -> None:
    """For a level bar. Plotly moves a figure's own title out of sight for it: here it is a note."""
    figure.layout.title.text = None
    figure.layout.height += LEVEL_BAR
    figure.layout.margin.t += LEVEL_BAR
    figure.add_annotation(
        text=title,
        showarrow=False,
        **{"x": 0, "xref": "paper", "xanchor": "left", "xshift": 4 - figure.layout.margin.l},
        **{"y": 1, "yref": "paper", "yanchor": "bottom", "yshift": LEVEL_BAR + GAP},
        font={"size": FONT_SIZE + 1, "color": theme.text},
    )


def cells_figure(
    traces: list[go.Heatmap],
    shape: tuple[int, ...],
    rows: Side,
    columns: Side,
    theme: Theme,
    *,
    id: str,
    title: str,
    right: int,
    most_columns: int = MAX_LABELS,
    most_rows: int = MAX_LABELS,
) -> go.Figure:
    """The frame of every heatmap: sheets of cells [Q, K] on labelled axes, row 0 on top.

    right: pixels beside the cells, for a colour bar if there is one. most_columns, most_rows: how
    many of them get a label; less than usual in a narrow figure.
    """
    margin = _margin(shape[1], rows, columns) | {"r": right}
    height = _plotted(shape[0], rows) + margin["t"] + margin["b"]
    axes = _axes(shape, rows, columns, theme)
    figure = go.Figure(traces, layout(theme, id, title, height=height, margin=margin, **axes))
    _thin_labels(figure, {"x": columns, "y": rows}, {"x": most_columns, "y": most_rows})
    return figure


def make_square(figure: go.Figure) -> None:
    """Let each cell be as wide as it is high; what is left over stays empty beside the cells."""
    figure.update_xaxes(constrain="domain", constraintoward="left")
    figure.layout.yaxis.update(scaleanchor="x", constrain="domain", constraintoward="top")


def _axes(shape: tuple[int, ...], rows: Side, columns: Side, theme: Theme) -> dict[str, Any]:
    """Both axes, given at once: updating a figure's axes costs twice as much as making it."""
    n_rows, n_columns = shape
    frame = {
        "automargin": False,
        "showline": True,
        "mirror": True,
        "linecolor": theme.grid,
        "layer": "below traces",
    }
    angle = -90 if columns.tokens and n_columns > MAX_LEVEL else 0
    across = {"range": [-0.5, n_columns - 0.5], "tickangle": angle}
    return {
        "xaxis": columns.axis(theme, **frame, **across),
        "yaxis": rows.axis(theme, **frame, range=[n_rows - 0.5, -0.5]),
    }


def _plotted(n_rows: int, rows: Side) -> int:
    """Pixels of the plotted area: token rows must stay readable, numbered ones need not."""
    return rows_height(n_rows) if rows.tokens else min(rows_height(n_rows), NUMBERED)


def _margin(n_columns: int, rows: Side, columns: Side) -> dict[str, Any]:
    """Room for the labels, worked out here: Plotly would draw the axes three times to find it."""
    upright = columns.tokens is not None and n_columns > MAX_LEVEL
    return {
        "t": TOP,
        "l": LINE + _widest(rows),
        "b": LINE + (_widest(columns) if upright else LABEL_SPACE[0]),
        "autoexpand": False,
    }


def _widest(side: Side) -> int:
    """Pixels that the longest label along this side needs."""
    least, most = LABEL_SPACE
    widths = (label_width(text) for text in labels(side.tokens or ()))
    return min(most, max(least, *widths, 0) + GAP)


def _under(masked: Tensor, theme: Theme) -> go.Heatmap:
    """A plain sheet below the weights; it shows and speaks where they have gaps."""
    return go.Heatmap(
        z=masked.byte().cpu().numpy(),
        colorscale=plotly_scale([theme.background, theme.masked]),
        zmin=0,
        zmax=1,
        showscale=False,
        hovertemplate="%{y} → %{x}: masked<extra></extra>",
    )


def _thin_labels(figure: go.Figure, sides: dict[str, Side], most: dict[str, int]) -> None:
    """Long axes: a second axis on top of the first carries every n-th label.

    The first one keeps all its (hidden) labels, because hovering takes its text from them.
    """
    long = {name for name, side in sides.items() if len(side.tokens or ()) > most[name]}
    if not long:
        return
    for name in long:
        shown = figure.layout[f"{name}axis"].to_plotly_json()
        every = -(-len(shown["tickvals"]) // most[name])
        shown |= {
            "tickvals": shown["tickvals"][::every],
            "ticktext": shown["ticktext"][::every],
            "showticklabels": True,
            "showline": False,  # the first one has it
            "overlaying": name,
            "matches": name,
            "side": "bottom" if name == "x" else "left",
        }
        figure.update_layout(
            {f"{name}axis2": shown, f"{name}axis": {"title": None, "showticklabels": False}}
        )
    # An axis without a trace is not drawn: one point that shows nothing brings it to life.
    figure.add_trace(
        go.Scatter(
            x=[0],
            y=[0],
            xaxis="x2" if "x" in long else "x",
            yaxis="y2" if "y" in long else "y",
            opacity=0,
            mode="markers",
            hoverinfo="skip",
            showlegend=False,
        )
    )
