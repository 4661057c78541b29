"""Views of relative positions: rotary ones, ALiBi's slopes, learned biases."""

import math
from dataclasses import replace

import torch
from torch import Tensor

from transformer.analysis.reading import Selection
from transformer.positions.encodings import bound, decay
from transformer.positions.relative_bias import ByDistance, RelativeBias, by_distance, paper_slopes
from transformer.recording import Recording
from viz.exhibits.chart import Axis, Chart, Curve, differences
from viz.figures.tables import heat_map
from viz.labels import counted, number
from viz.map_words import layers_text, slopes_text, wave_text
from viz.theme import SERIES
from viz.views.view import Choice, HeadChoice, PartChoice, View

# Rotary positions: what is left of q·k as key and query part.

ROTARY_DECAY_HEIGHT = 330
REACHES = ("256", "1024", "4096")


def name_with_layers(recording: Recording, where: str) -> str:
    """The name of what turns, and the layers that do where others do not, or otherwise."""
    rotary = recording.rotary[where]
    if len(rotary.layers) == recording.attentions[rotary.kind].n_layers:
        return where
    return f"{where.partition(', from L')[0]}, {layers_text(rotary, recording)}"


def chart_rotary_decay(recording: Recording, where: str, reach: str) -> Chart:
    """Two curves over the distance, both as a share of their value at 0."""
    rotary, distances = recording.rotary[where], torch.arange(int(reach) + 1)
    own, most = decay(rotary, distances).numpy(), bound(rotary, distances).numpy()
    curves = (
        Curve("q = k = 1", distances.numpy(), own, 0, "{y:.4f}", 1.5),
        Curve("the paper's bound", distances.numpy(), most, 5, "{y:.4f}", dash="dot"),
    )
    x = Axis("distance, positions", hover="distance {x}")
    y, title = Axis("share of the value at distance 0", has_grid=True), "q·k by distance"
    of = f", {name_with_layers(recording, where)}"
    return Chart(f"rotary_decay {where}", title, of, x, y, curves, ROTARY_DECAY_HEIGHT)


def describe_rotary_decay(recording: Recording, where: str, reach: str) -> str:
    rotary, last = recording.rotary[where], int(reach)
    near, far = decay(rotary, torch.tensor([1, last])).tolist()
    highest = float(bound(rotary, torch.tensor([last])))
    return (
        f"q·k with q = k = 1 falls to {number(near, 4)} at distance 1 and {number(far, 4)} at "
        f"{last}, where the bound of the rotated part is {highest:.4f} of its value at distance 0."
    )


ROTARY_DECAY_VIEW = View(
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
    content=chart_rotary_decay,
    describe=describe_rotary_decay,
    controls=(
        PartChoice("where", "Attention", "rotary"),
        Choice("reach", "Distances up to", REACHES),
    ),
)


# Rotary positions at work: the scores of a recorded text by the distance of key and query.

ROTARY_SCORES_HEIGHT = 330


def applies_rotary_scores(recording: Recording) -> bool:
    """Say whether every head that may be chosen turns, and its queries and keys are known."""
    turning = {rotary.kind for rotary in recording.rotary.values()}
    return set(recording.attentions) <= turning and all(
        each.calls[0].knows_scores for each in recording.attentions.values()
    )


def scores(recording: Recording, selection: Selection) -> ByDistance:
    """q·k·scale, and bias if there is one, of one head [1, N]; masked cells do not count."""
    call = selection.attention(recording).calls[selection.layer].only(selection.head)
    return by_distance(call.scores().cpu(), call.allowed().cpu())


def chart_rotary_scores(recording: Recording, selection: Selection) -> Chart:
    """The mean over all cells of a distance, within the range from the lowest to the highest."""
    means, name = scores(recording, selection), selection.name(recording)
    places, hover = means.distances.numpy(), "{y:.4f}"
    low, high, mean = (each[0].numpy() for each in (means.low, means.high, means.mean))
    edge = Curve("lowest", places, low, "accent", hover, width=0, is_in_legend=False)
    curves = (
        edge,
        replace(edge, name="highest", y=high, fill="before"),
        Curve("mean", places, mean, "accent", hover),
    )
    x = Axis("key − query, positions", hover="key − query = {x}")
    y = Axis("score before the softmax", has_grid=True)
    id, title = f"rotary_scores {selection.kind} {name}", "Scores by distance"
    return Chart(id, title, f", {name}", x, y, curves, ROTARY_SCORES_HEIGHT)


def describe_rotary_scores(recording: Recording, selection: Selection) -> str:
    means = scores(recording, selection)
    if not len(means.distances):
        return f"Every cell of {selection.name(recording)} ({selection.kind}) is masked: no scores."
    best = int(means.mean[0].argmax())
    return (
        f"Mean scores of {selection.name(recording)} ({selection.kind}) at "
        f"{len(means.distances)} distances of key and query: the highest is "
        f"{number(means.mean[0, best], 4)} at {int(means.distances[best])}."
    )


ROTARY_SCORES_VIEW = View(
    name="rotary_scores",
    title="Scores by distance",
    explain=(
        "q·k·scale (and bias) of this text before the softmax: the mean over all cells of a "
        "distance, and the band from the lowest to the highest of them. Masked cells do not count; "
        "far distances have few cells."
    ),
    needs="rotary",
    content=chart_rotary_scores,
    describe=describe_rotary_scores,
    controls=(HeadChoice(),),
    applies=applies_rotary_scores,
)


# Rotary positions: in how many positions each pair of dimensions turns once.

ROTARY_WAVES_HEIGHT = 330


def chart_rotary_waves(recording: Recording) -> Chart:
    """One dot per pair, one colour for layers with the same rotation."""
    curves = [
        Curve(
            name_with_layers(recording, name),
            range(rotary.wavelengths.numel()),
            rotary.wavelengths.numpy(),
            i % len(SERIES),
            "{y:,.1f} positions, θ = {0:.4g} radians",
            1.0,
            point=6,
            more=rotary.frequencies.double().cpu()[:, None].tolist(),
        )
        for i, (name, rotary) in enumerate(recording.rotary.items())
    ]
    n_tokens = max(len(recording.attentions[each.kind].keys) for each in recording.rotary.values())
    ends = (-0.5, max(len(curve.x) for curve in curves) - 0.5)
    name = f"length of this text: {n_tokens}"
    curves.append(Curve(name, ends, (n_tokens, n_tokens), "dim", width=1, dash="dot"))
    x = Axis("pair of dimensions", ends=ends, hover="pair {x}")
    y = Axis("positions in a full turn", is_log=True, has_grid=True, format=",.0f")
    return Chart(
        "rotary_waves", "Wavelengths", " of the pairs that turn", x, y, curves, ROTARY_WAVES_HEIGHT
    )


def describe_rotary_waves(recording: Recording) -> str:
    parts = [
        f"{name_with_layers(recording, name)}: {rotary.frequencies.numel()} pairs, "
        f"from {wave_text(float(waves.min()))} to {wave_text(float(waves.max()))} "
        "positions in a full turn"
        for name, rotary in recording.rotary.items()
        for waves in [rotary.wavelengths]
    ]
    return "; ".join(parts) + "."


ROTARY_WAVES_VIEW = View(
    name="rotary_waves",
    title="Rotary waves",
    explain=(
        "Each pair of dimensions of a query or key turns by θ radians per position: once in 2π/θ "
        "positions. Fast pairs tell neighbours apart; those that turn slower than the text is long "
        "hardly move in it (RoFormer, Su et al. 2021, section 3.2.2)."
    ),
    needs="rotary",
    content=chart_rotary_waves,
    describe=describe_rotary_waves,
    controls=(),
)


# ALiBi: how much each head lowers its scores per position, beside the published slopes.

ALIBI_SLOPES_HEIGHT = 290
MOST = 16
"""Heads that are named below."""


def applies_alibi_slopes(recording: Recording) -> bool:
    """Say whether some bias is a line of the distance."""
    return any(bias.slopes is not None for bias in recording.biases.values())


class AlibiChoice(PartChoice):
    """One of the biases that are lines."""

    def options(self, recording: Recording) -> list[str]:
        return [name for name, bias in recording.biases.items() if bias.slopes is not None]


def chart_alibi_slopes(recording: Recording, where: str) -> Chart:
    """Dots on a scale of powers: published slopes are even steps there."""
    slopes = _slopes(recording, where)
    paper, heads, hover = paper_slopes(slopes.numel()), range(slopes.numel()), "{y:.6f}"
    rings = Curve(
        "Press et al. 2022", heads, paper.numpy(), "dim", hover, 0, point=15, is_ring=True
    )
    dots = Curve("this model", heads, slopes.numpy(), "accent", hover, 0, point=8)
    labels = [f"H{head}" for head in heads]
    x = Axis("head", labels=labels, most_labels=MOST, hover="{x}")
    # Powers of 2 from 1 down to the least slope, as people write them; every second of many.
    least = min(float(slopes.min()), float(paper.min()))
    exponents = range(math.ceil(-math.log2(least)) + 1)
    powers = exponents[:: 1 + len(exponents) // 11]
    ticks = [(2.0**-power, "1" if power == 0 else f"1/{2**power:,}") for power in powers]
    y = Axis("slope, score per position", is_log=True, has_grid=True, ticks=ticks)
    title = ("ALiBi's slopes", ", head by head")
    return Chart(f"alibi_slopes {where}", *title, x, y, (rings, dots), ALIBI_SLOPES_HEIGHT)


def _slopes(recording: Recording, where: str) -> Tensor:
    slopes = recording.biases[where].slopes
    if slopes is None:
        raise ValueError("this bias is not linear in the distance: View.applies_to says so")
    return slopes


def describe_alibi_slopes(recording: Recording, where: str) -> str:
    slopes = _slopes(recording, where)
    return (
        f"Slopes of {counted(slopes.numel(), 'head', 'heads')} of {where}: {slopes_text(slopes)}."
    )


ALIBI_SLOPES_VIEW = View(
    name="alibi_slopes",
    title="ALiBi slopes",
    explain=(
        "bias = −m·|key − query|: each head h of H has its slope m, published as 2^(−8h/H) for "
        "h = 1 … H (Press et al. 2022, section 3; between powers of 2 as in the authors' code). "
        "The model's own slopes are measured by least squares from the bias it added to its scores."
    ),
    needs="biases",
    content=chart_alibi_slopes,
    describe=describe_alibi_slopes,
    controls=(AlibiChoice("where", "Attention", "biases"),),
    applies=applies_alibi_slopes,
)


# The bias that each head adds to its scores for the distance of key and query.

RELATIVE_BIAS_HEIGHT = 330
TITLE, DISTANCE = "Bias by distance", "key − query, positions"
CURVES, CELLS = "curves", "heads × distance"


def chart_relative_bias(recording: Recording, where: str, shown: str) -> Chart:
    """A head is a curve, or a row of cells [H, N]."""
    bias = recording.biases[where]
    return _cells(bias, where) if shown == CELLS else _curves(bias, where)


def _curves(bias: RelativeBias, where: str) -> Chart:
    means = bias.by_distance
    places = means.distances.numpy()
    curves = [
        Curve(f"H{head}", places, values.numpy(), ("head", head), "{y:.4f}", 1.5, point=4)
        for head, values in enumerate(means.mean)
    ]
    x, y = Axis(DISTANCE, hover="key − query = {x}"), Axis(_unit(bias), has_grid=True)
    return Chart(f"relative_bias {where}", TITLE, f", {where}", x, y, curves, RELATIVE_BIAS_HEIGHT)


def _cells(bias: RelativeBias, where: str) -> Chart:
    means = bias.by_distance
    return heat_map(
        f"relative_bias {where} {CELLS}",
        (TITLE, f", {where}"),
        means.mean,
        Axis("head", labels=[f"H{head}" for head in range(len(means.mean))]),
        Axis(DISTANCE),
        differences("bias", float(means.mean.abs().amax()) or 1.0),
        "{y}, key − query = {x}: {z:.4f}",
        first_column=int(means.distances[0]),  # columns are distances, which may be negative
    )


def _unit(bias: RelativeBias) -> str:
    return "bias, from the query's own place" if bias.from_own else "bias added to the score"


def describe_relative_bias(recording: Recording, where: str, shown: str) -> str:
    bias = recording.biases[where]
    means = bias.by_distance
    head, place = divmod(int(means.mean.argmax()), len(means.distances))
    least = "less than 0.0001" if means.spread < 1e-4 else f"up to {means.spread:.4f}"
    alone = (
        "it only depends on the distance"
        if bias.is_of_distance
        else f"cells of one distance differ by {least}, and their mean is shown"
    )
    return (
        f"The bias that is added to the scores of {counted(len(means.mean), 'head', 'heads')} of "
        f"{where} at distances from "
        f"{int(means.distances[0])} to {int(means.distances[-1])}; {alone}. The largest is "
        f"{number(means.mean[head, place], 4)}, of H{head} at {int(means.distances[place])}."
    )


RELATIVE_BIAS_VIEW = View(
    name="relative_bias",
    title="Bias by distance",
    explain=(
        "The bias added to q·k·scale before the softmax, for keys before the query (negative "
        "distances) and after it; float32 values. Adding one number to a whole row changes no "
        "weight, so such biases are shown relative to the query's own position (T5: Raffel et al. "
        "2020, section 2.1; ALiBi: Press et al. 2022)."
    ),
    needs="biases",
    content=chart_relative_bias,
    describe=describe_relative_bias,
    controls=(
        PartChoice("where", "Attention", "biases"),
        Choice("shown", "As", (CURVES, CELLS)),
    ),
)


VIEW = (
    ROTARY_DECAY_VIEW,
    ROTARY_SCORES_VIEW,
    ROTARY_WAVES_VIEW,
    ALIBI_SLOPES_VIEW,
    RELATIVE_BIAS_VIEW,
)
