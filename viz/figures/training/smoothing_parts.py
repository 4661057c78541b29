"""The loss at one position over the smoothing: the entropy of the target and what lies above it."""

from dataclasses import dataclass

from torch import Tensor

from transformer.training.smoothing import cross_entropy, divergence, entropy, smoothed_target
from viz.exhibits.chart import Axis, Chart, Curve, Rule, values_of

HEIGHT = 170
LARGEST, STEP = 0.5, 0.01
"""The largest smoothing that can be chosen, and its step."""


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


def chart(curve: list[Parts], chosen: Parts, position: int) -> Chart:
    """Entropy and divergence stacked, so that their upper edge is the cross-entropy."""
    epsilons, hover = [each.epsilon for each in curve], "{y:.4f} nats"
    parts = (
        ("entropy of the target", [each.entropy for each in curve], 1),
        ("KL divergence", [each.divergence for each in curve], 0),
    )
    areas = [
        Curve(name, epsilons, values, series, hover, width=1, fill="stack")
        for name, values, series in parts
    ]
    at = Rule(chosen.epsilon, ink="accent", dash="solid")
    x, y = Axis("ε", ends=(0, LARGEST), hover="{x:.2f}"), values_of("nats")
    title = ("The loss and its two parts", " over ε")
    return Chart(f"smoothing_parts {position}", *title, x, y, (*areas, at), HEIGHT)


def describe(chosen: Parts) -> str:
    return (
        f"With a smoothing of {chosen.epsilon:.2f} the cross-entropy of "
        f"{chosen.cross_entropy:.4f} nats is a KL divergence of {chosen.divergence:.4f} nats and "
        f"an entropy of the target of {chosen.entropy:.4f} nats."
    )
