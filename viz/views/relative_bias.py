"""The bias that each head adds to its scores for the distance of key and query."""

from transformer.positions.relative_bias import RelativeBias
from transformer.recording import Recording
from viz.exhibits.chart import Axis, Chart, Curve
from viz.exhibits.shading import differences
from viz.figures.heat_map import heat_map
from viz.labels import counted, number
from viz.views.view import Choice, PartChoice, View

HEIGHT = 330
TITLE, DISTANCE = "Bias by distance", "key − query, positions"
CURVES, CELLS = "curves", "heads × distance"


def chart(recording: Recording, where: str, shown: str) -> Chart:
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
    return Chart(f"relative_bias {where}", TITLE, f", {where}", x, y, curves, HEIGHT)


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


def describe(recording: Recording, where: str, shown: str) -> str:
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


VIEW = View(
    name="relative_bias",
    title="Bias by distance",
    explain=(
        "The bias added to q·k·scale before the softmax, for keys before the query (negative "
        "distances) and after it; float32 values. Adding one number to a whole row changes no "
        "weight, so such biases are shown relative to the query's own position (T5: Raffel et al. "
        "2020, section 2.1; ALiBi: Press et al. 2022)."
    ),
    needs="biases",
    content=chart,
    describe=describe,
    controls=(
        PartChoice("where", "Attention", "biases"),
        Choice("shown", "As", (CURVES, CELLS)),
    ),
)
