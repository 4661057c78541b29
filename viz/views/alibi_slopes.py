"""ALiBi: how much each head lowers its scores per position, beside the published slopes."""

import math
from typing import Any

import plotly.graph_objects as go
from torch import Tensor

from transformer.positions.relative_bias import paper_slopes
from transformer.recording import Recording
from viz.figures.curve import curve_layout
from viz.figures.layout import axis
from viz.position_words import slopes_text
from viz.theme import Theme
from viz.views.view import PartChoice, View

HEIGHT = 400


def applies(recording: Recording) -> bool:
    """Whether some bias is a line of the distance."""
    return any(bias.slopes is not None for bias in recording.biases.values())


class AlibiChoice(PartChoice):
    """One of the biases that are lines."""

    def options(self, recording: Recording) -> list[str]:
        return [name for name, bias in recording.biases.items() if bias.slopes is not None]


def draw(recording: Recording, theme: Theme, where: str) -> go.Figure:
    """Dots on a scale of powers: published slopes are even steps there."""
    slopes = _slopes(recording, where)
    title = "<b>ALiBi's slopes</b>, head by head"
    figure = go.Figure(layout=curve_layout(theme, f"alibi_slopes {where}", title, HEIGHT))
    paper = paper_slopes(slopes.numel())
    theirs = {"symbol": "circle-open", "size": 15, "color": theme.dim, "line": {"width": 1.5}}
    own = {"symbol": "circle", "size": 8, "color": theme.accent}
    figure.add_trace(_dots(paper, "Press et al. 2022", theirs))
    figure.add_trace(_dots(slopes, "this model", own))
    heads = list(range(slopes.numel()))
    ticks = {"tickvals": heads, "ticktext": [f"H{head}" for head in heads], "nticks": 16}
    if len(heads) > 16:
        ticks = {"tickprefix": "H", "nticks": 12}
    figure.update_xaxes(axis(theme, "head", **ticks, hover="H%{x}"))
    scale = {"type": "log", **_powers(min(float(slopes.min()), float(paper.min())))}
    figure.update_yaxes(axis(theme, "slope, score per position", **scale, grid=True))
    return figure


def _powers(least: float) -> dict[str, Any]:
    """Powers of 2 from 1 down to the least slope, as people write them; every second of many."""
    exponents = range(math.ceil(-math.log2(least)) + 1)
    shown = exponents[:: 1 + len(exponents) // 11]
    texts = ["1" if power == 0 else f"1/{2**power:,}" for power in shown]
    return {"tickvals": [2.0**-power for power in shown], "ticktext": texts}


def _dots(slopes: Tensor, name: str, marker: dict[str, Any]) -> go.Scatter:
    return go.Scatter(
        y=slopes.numpy(), name=name, mode="markers", marker=marker, hovertemplate="%{y:.6f}"
    )


def _slopes(recording: Recording, where: str) -> Tensor:
    slopes = recording.biases[where].slopes
    if slopes is None:
        raise ValueError("this bias is not linear in the distance: View.applies_to says so")
    return slopes


def describe(recording: Recording, where: str) -> str:
    slopes = _slopes(recording, where)
    return f"Slopes of {slopes.numel()} heads of {where}: {slopes_text(slopes)}."


VIEW = View(
    name="alibi_slopes",
    title="ALiBi slopes",
    explain=(
        "bias = −m·|key − query|: each head h of H has its slope m, published as 2^(−8h/H) for "
        "h = 1 … H (Press et al. 2022, section 3; between powers of 2 as in the authors' code). "
        "The model's own slopes are measured by least squares from the bias it added to its scores."
    ),
    needs="biases",
    draw=draw,
    describe=describe,
    controls=(AlibiChoice("where", "Attention", "biases"),),
    applies=applies,
)
