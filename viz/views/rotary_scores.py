"""Rotary positions at work: the scores of a recorded text by the distance of key and query."""

from dataclasses import replace

from transformer.analysis.selection import Selection
from transformer.positions.relative_bias import ByDistance, by_distance
from transformer.recording import Recording
from viz.exhibits.chart import Axis, Chart, Curve
from viz.labels import number
from viz.views.view import HeadChoice, View

HEIGHT = 330


def applies(recording: Recording) -> bool:
    """Say whether every head that may be chosen turns, and its queries and keys are known."""
    turning = {rotary.kind for rotary in recording.rotary.values()}
    return set(recording.attentions) <= turning and all(
        each.calls[0].knows_scores for each in recording.attentions.values()
    )


def scores(recording: Recording, selection: Selection) -> ByDistance:
    """q·k·scale, and bias if there is one, of one head [1, N]; masked cells do not count."""
    call = selection.attention(recording).calls[selection.layer].only(selection.head)
    return by_distance(call.scores().cpu(), call.allowed().cpu())


def chart(recording: Recording, selection: Selection) -> Chart:
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
    return Chart(id, title, f", {name}", x, y, curves, HEIGHT)


def describe(recording: Recording, selection: Selection) -> str:
    means = scores(recording, selection)
    if not len(means.distances):
        return f"Every cell of {selection.name(recording)} ({selection.kind}) is masked: no scores."
    best = int(means.mean[0].argmax())
    return (
        f"Mean scores of {selection.name(recording)} ({selection.kind}) at "
        f"{len(means.distances)} distances of key and query: the highest is "
        f"{number(means.mean[0, best], 4)} at {int(means.distances[best])}."
    )


VIEW = View(
    name="rotary_scores",
    title="Scores by distance",
    explain=(
        "q·k·scale (and bias) of this text before the softmax: the mean over all cells of a "
        "distance, and the band from the lowest to the highest of them. Masked cells do not count; "
        "far distances have few cells."
    ),
    needs="rotary",
    content=chart,
    describe=describe,
    controls=(HeadChoice(),),
    applies=applies,
)
