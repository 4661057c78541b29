"""The loss at one position over the smoothing: the entropy of the target and what lies above it."""

from dataclasses import dataclass

import plotly.graph_objects as go
from torch import Tensor

from transformer.training.smoothing import cross_entropy, divergence, entropy, smoothed_target
from viz.figures.curve import curve_layout, value_axis
from viz.figures.layout import axis
from viz.theme import SERIES, Theme

HEIGHT = 280
LARGEST, STEP = 0.5, 0.01
"""Of the smoothing that can be chosen."""


@dataclass(frozen=True)
class Parts:
    """One loss, in nats: cross_entropy = divergence + entropy, each computed by itself."""

    epsilon: float
    divergence: float
    """KL(smoothed target || prediction): what the model can still learn."""
    entropy: float
    """The entropy of the smoothed target: the lower bound of the loss."""
    cross_entropy: float


def parts(target: int, log_probs: Tensor, epsilon: float) -> Parts:
    """The loss of a prediction [V] against a smoothed target."""
    smoothed = smoothed_target(target, len(log_probs), epsilon)
    values = (
        divergence(smoothed, log_probs),
        entropy(smoothed),
        cross_entropy(smoothed, log_probs),
    )
    return Parts(epsilon, *map(float, values))


def all_parts(target: int, log_probs: Tensor) -> list[Parts]:
    """The same for every smoothing that can be chosen."""
    n = round(LARGEST / STEP)
    return [parts(target, log_probs, i / n * LARGEST) for i in range(n + 1)]


def draw(curve: list[Parts], chosen: Parts, position: int, theme: Theme) -> go.Figure:
    """Entropy and divergence stacked, so that their upper edge is the cross-entropy."""
    title = "<b>The loss and its two parts</b> over ε"
    figure = go.Figure(layout=curve_layout(theme, f"smoothing_parts {position}", title, HEIGHT))
    epsilons = [each.epsilon for each in curve]
    for name, values, colour in (
        ("entropy of the target", [each.entropy for each in curve], SERIES[1]),
        ("KL divergence", [each.divergence for each in curve], SERIES[0]),
    ):
        figure.add_trace(_area(name, epsilons, values, colour))
    figure.add_vline(chosen.epsilon, line={"color": theme.accent, "width": 1.5})
    figure.update_xaxes(axis(theme, "ε", range=[0, LARGEST], dtick=0.1, hoverformat=".2f"))
    figure.update_yaxes(value_axis(theme, "nats"))
    return figure


def _area(name: str, epsilons: list[float], values: list[float], colour: str) -> go.Scatter:
    return go.Scatter(
        x=epsilons,
        y=values,
        name=name,
        mode="lines",
        stackgroup="loss",
        line={"color": colour, "width": 1},
        hovertemplate="%{y:.4f} nats",
    )


def describe(chosen: Parts) -> str:
    return (
        f"With a smoothing of {chosen.epsilon:.2f} the cross-entropy of "
        f"{chosen.cross_entropy:.4f} nats is a KL divergence of {chosen.divergence:.4f} nats and "
        f"an entropy of the target of {chosen.entropy:.4f} nats."
    )
