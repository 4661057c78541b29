"""Rotary positions: what is left of q·k as key and query part."""

import torch

from transformer.positions.rotary import bound, decay
from transformer.recording import Recording
from viz.exhibits.chart import Axis, Chart, Curve
from viz.labels import number
from viz.views.view import Choice, PartChoice, View

HEIGHT = 330
REACHES = ("256", "1024", "4096")


def chart(recording: Recording, where: str, reach: str) -> Chart:
    """Two curves over the distance, both as a share of their value at 0."""
    rotary, distances = recording.rotary[where], torch.arange(int(reach) + 1)
    own, most = decay(rotary, distances).numpy(), bound(rotary, distances).numpy()
    curves = (
        Curve("q = k = 1", distances.numpy(), own, 0, "{y:.4f}", 1.5),
        Curve("the paper's bound", distances.numpy(), most, 5, "{y:.4f}", dash="dot"),
    )
    x = Axis("distance, positions", hover="distance {x}")
    y, title = Axis("share of the value at distance 0", has_grid=True), "q·k by distance"
    return Chart(f"rotary_decay {where}", title, f", {where}", x, y, curves, HEIGHT)


def describe(recording: Recording, where: str, reach: str) -> str:
    rotary, last = recording.rotary[where], int(reach)
    near, far = decay(rotary, torch.tensor([1, last])).tolist()
    highest = float(bound(rotary, torch.tensor([last])))
    return (
        f"q·k with q = k = 1 falls to {number(near, 4)} at distance 1 and {number(far, 4)} at "
        f"{last}, where the bound of the rotated part is {highest:.4f} of its value at distance 0."
    )


VIEW = View(
    name="rotary_decay",
    title="Rotary decay",
    explain=(
        "Solid: q·R(distance)·k for q = k = 1; each rotated pair gives 2·cos(distance·θ), each "
        "unrotated dimension 1. Dotted: mean |Σ e^(i·distance·θ)|, which bounds the rotated part "
        "for any q and k, up to a factor that depends on them (RoFormer, Su et al. 2021, section "
        "3.4.3). Both are relative to distance 0. For real queries and keys see “Scores by "
        "distance”."
    ),
    needs="rotary",
    content=chart,
    describe=describe,
    controls=(
        PartChoice("where", "Attention", "rotary"),
        Choice("reach", "Distances up to", REACHES),
    ),
)
