"""ALiBi: how much each head lowers its scores per position, beside the published slopes."""

import math

from torch import Tensor

from transformer.positions.relative_bias import paper_slopes
from transformer.recording import Recording
from viz.exhibits.chart import Axis, Chart, Curve
from viz.labels import counted
from viz.position_words import slopes_text
from viz.views.view import PartChoice, View

HEIGHT = 290
MOST = 16
"""Heads that are named below."""


def applies(recording: Recording) -> bool:
    """Say whether some bias is a line of the distance."""
    return any(bias.slopes is not None for bias in recording.biases.values())


class AlibiChoice(PartChoice):
    """One of the biases that are lines."""

    def options(self, recording: Recording) -> list[str]:
        return [name for name, bias in recording.biases.items() if bias.slopes is not None]


def chart(recording: Recording, where: str) -> Chart:
    """Dots on a scale of powers: published slopes are even steps there."""
    slopes = _slopes(recording, where)
    paper, heads, hover = paper_slopes(slopes.numel()), range(slopes.numel()), "{y:.6f}"
    rings = Curve(
        "Press et al. 2022", heads, paper.numpy(), "dim", hover, 0, point=15, is_ring=True
    )
    dots = Curve("this model", heads, slopes.numpy(), "accent", hover, 0, point=8)
    labels = [f"H{head}" for head in heads]
    x = Axis("head", labels=labels, most_labels=MOST, hover="{x}")
    ticks = _powers(min(float(slopes.min()), float(paper.min())))
    y = Axis("slope, score per position", is_log=True, has_grid=True, ticks=ticks)
    title = ("ALiBi's slopes", ", head by head")
    return Chart(f"alibi_slopes {where}", *title, x, y, (rings, dots), HEIGHT)


def _powers(least: float) -> list[tuple[float, str]]:
    """Powers of 2 from 1 down to the least slope, as people write them; every second of many."""
    exponents = range(math.ceil(-math.log2(least)) + 1)
    powers = exponents[:: 1 + len(exponents) // 11]
    return [(2.0**-power, "1" if power == 0 else f"1/{2**power:,}") for power in powers]


def _slopes(recording: Recording, where: str) -> Tensor:
    slopes = recording.biases[where].slopes
    if slopes is None:
        raise ValueError("this bias is not linear in the distance: View.applies_to says so")
    return slopes


def describe(recording: Recording, where: str) -> str:
    slopes = _slopes(recording, where)
    return (
        f"Slopes of {counted(slopes.numel(), 'head', 'heads')} of {where}: {slopes_text(slopes)}."
    )


VIEW = View(
    name="alibi_slopes",
    title="ALiBi slopes",
    explain=(
        "bias = −m·|key − query|: each head h of H has its slope m, published as 2^(−8h/H) for "
        "h = 1 … H (Press et al. 2022, section 3; between powers of 2 as in the authors' code). "
        "The model's own slopes are measured by least squares from the bias it added to its scores."
    ),
    needs="biases",
    content=chart,
    describe=describe,
    controls=(AlibiChoice("where", "Attention", "biases"),),
    applies=applies,
)
