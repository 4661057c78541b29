"""What layers cost as curves over the length of the sequence, and the times of real ones.

Not a view of a recording: the page "Why attention" draws these figures by itself.
"""

import math
from typing import Any

import plotly.graph_objects as go

from transformer.complexity import CONTIGUOUS, LAYERS, Cost, Layer, Measured, Sizes
from viz.figures.layout import SMALL, axis, layout
from viz.theme import SERIES, Theme

SHORTEST, LONGEST = 4, 4096
"""The n that curves are drawn for."""
QUANTITIES = {
    "operations": "Operations per layer",
    "sequential": "Sequential steps per layer",
    "longest_path": "Longest path, in steps",
}
"""Attribute of a layer -> title, with the unit of its numbers."""
COLOURS = dict(zip((layer.name for layer in LAYERS), SERIES, strict=False))
DASHES = {
    "self_attention": (1, 0),
    "restricted": (9, 5),
    "recurrent": (5, 3),
    "convolutional": (2, 3),
}
"""Pixels drawn and left out: where curves lie on each other, the one below shows through."""
WIDTHS = {layer.name: 2.0 for layer in LAYERS} | {"self_attention": 3.5}
HEIGHT = 300
"""Pixels of each figure."""


def lengths() -> list[int]:
    """Every n up to 64, where whole steps show, then 16 to each doubling."""
    doublings = round(math.log2(LONGEST / 64))
    return [*range(SHORTEST, 64), *(round(64 * 2 ** (i / 16)) for i in range(16 * doublings + 1))]


def draw_costs(quantity: str, sizes: Sizes, n: int, theme: Theme) -> go.Figure:
    """One column of table 1, one curve per layer, both axes logarithmic; the chosen n is marked."""
    figure = _empty(theme, f"layer_costs {quantity} {sizes} n={n}", QUANTITIES[quantity])
    figure.update_yaxes(tickformat="~s")  # 1k, 1M, 1G
    for layer in LAYERS:
        figure.add_trace(_curve(layer, getattr(layer, quantity), sizes))
    if quantity == "longest_path":
        figure.add_trace(_not_dilated(sizes))
    if quantity == "operations":
        _mark_equal(figure, sizes.d, theme)
    _mark_chosen(figure, n, theme)
    return figure


def draw_times(measured: Measured, n: int, theme: Theme) -> go.Figure:
    """Measured milliseconds of real layers, one curve per layer, like the formulas beside it."""
    figure = _empty(theme, f"layer_costs times {measured.sizes} n={n}", "Measured, in milliseconds")
    for layer in LAYERS:
        timings = measured.times[layer.name]
        figure.add_trace(
            go.Scatter(
                x=[timing.n for timing in timings],
                y=[timing.ms for timing in timings],
                mode="lines+markers",
                marker={"size": 5},
                hovertemplate="%{y:.3g} ms",
                **_look(layer),
            )
        )
    _mark_equal(figure, measured.sizes.d, theme)
    _mark_chosen(figure, n, theme)
    return figure


def describe_costs(quantity: str, sizes: Sizes, n: int) -> str:
    """What the curves of `draw_costs` say at n."""
    values = ", ".join(
        f"{layer.title.lower()} {getattr(layer, quantity).value(n, sizes):,}" for layer in LAYERS
    )
    over = (
        f"over the length n of the sequence, with d = {sizes.d:,}, k = {sizes.k:,}, r = {sizes.r:,}"
    )
    return f"{QUANTITIES[quantity]}, {over}. At n = {n:,}: {values}."


def describe_times(measured: Measured) -> str:
    """The last point of each curve of `draw_times`."""
    last = {layer.title.lower(): measured.times[layer.name][-1] for layer in LAYERS}
    values = ", ".join(f"{name} {t.ms:.3g} ms at n = {t.n:,}" for name, t in last.items())
    return f"Measured times over the length of the sequence: {values}."


def _curve(layer: Layer, cost: Cost, sizes: Sizes) -> go.Scatter:
    return go.Scatter(
        x=lengths(),
        y=[cost.value(n, sizes) for n in lengths()],
        mode="lines",
        hovertemplate="%{y:,}",
        **_look(layer),
    )


def _not_dilated(sizes: Sizes) -> go.Scatter:
    """The path of kernels without dilation: thin, as it is a remark to the table."""
    curve = _curve(LAYERS[-1], CONTIGUOUS, sizes)
    return curve.update(name="… not dilated", line={"width": 1, "dash": "solid"})


def _look(layer: Layer) -> dict[str, Any]:
    drawn, gap = DASHES[layer.name]
    dash = f"{drawn}px,{gap}px" if gap else "solid"
    line = {"color": COLOURS[layer.name], "width": WIDTHS[layer.name], "dash": dash}
    return {"name": layer.title, "line": line}


def _mark_equal(figure: go.Figure, d: int, theme: Theme) -> None:
    """The line n = d: self-attention is the cheaper of n² · d and n · d² on its left."""
    figure.add_vrect(SHORTEST, d, fillcolor=theme.surface, line_width=0, layer="below")
    figure.add_vline(d, line={"color": theme.dim, "width": 1, "dash": "dot"})
    figure.add_annotation(
        text=f"<i>n</i> = <i>d</i> = {d:,}",
        **_beside(math.log10(d), right=d > math.sqrt(SHORTEST * LONGEST)),
        **{"y": 0, "yanchor": "bottom"},
        font={"size": SMALL, "color": theme.dim},
    )


def _mark_chosen(figure: go.Figure, n: int, theme: Theme) -> None:
    figure.add_vline(n, line={"color": theme.accent, "width": 1})
    figure.add_annotation(
        text=f"<i>n</i> = {n:,}",
        **_beside(math.log10(n), right=n > math.sqrt(SHORTEST * LONGEST)),
        **{"y": 1, "yanchor": "bottom"},
        font={"size": SMALL, "color": theme.accent},
    )


def _beside(x: float, right: bool) -> dict[str, Any]:
    """A label at a vertical line, on the side that has room. right: the line stands there."""
    return {
        "x": x,  # annotations want the logarithm, shapes do not
        "yref": "paper",
        "showarrow": False,
        "xanchor": "right" if right else "left",
    }


def _empty(theme: Theme, id: str, title: str) -> go.Figure:
    figure = go.Figure(layout=layout(theme, id, f"<b>{title}</b>", height=HEIGHT))
    ticks = [4**i for i in range(1, 7)]
    labels = {"tickvals": ticks, "ticktext": [f"{tick:,}" for tick in ticks]}
    figure.update_xaxes(
        axis(theme, "<i>n</i>, in positions", grid=True, type="log", **labels),
        range=[math.log10(SHORTEST), math.log10(LONGEST)],
    )
    figure.update_yaxes(axis(theme, "", grid=True, type="log", dtick=1))
    figure.update_layout(
        hovermode="x unified",
        showlegend=False,  # the table's samples are the legend
        margin_r=16,
        modebar={"remove": ["zoom", "pan", "zoomin", "zoomout", "autoscale", "resetscale"]},
    )
    return figure
