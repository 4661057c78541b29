"""A head's mean weight by offset, in two runs: how far back and ahead it looks."""

from transformer.positions.relative_bias import ByDistance
from viz.exhibits.chart import Axis, Chart, Curve, Dash, Ink, values_of
from viz.labels import number, signed

HEIGHT = 130
MARKED = 80
"""Offsets beyond which points have no marks."""
LOOKS: tuple[tuple[Ink, Dash], ...] = (("dim", "dot"), ("accent", "solid"))
"""The looks of the run before and of the one after."""


def chart(before: ByDistance, after: ByDistance, names: tuple[str, str], head: str) -> Chart:
    """names: of both runs; head: "Encoder L0 H3"."""
    point = 5 if len(before.distances) <= MARKED else 0
    marks = [
        Curve(
            name,
            run.distances.tolist(),
            run.mean[0].tolist(),
            ink,
            "{y:.4f} (mean of {0})",
            dash=dash,
            point=point,
            more=run.count.T.tolist(),
        )
        for run, name, (ink, dash) in zip((before, after), names, LOOKS, strict=True)
    ]
    title = "position of the key − position of the query"
    x, y = Axis(title, format="+d", hover="offset {x:+d}"), values_of("mean of open cells")
    return Chart(f"offset_curves {head}", head, ": mean weight by offset", x, y, marks, HEIGHT)


def describe(before: ByDistance, after: ByDistance, names: tuple[str, str], head: str) -> str:
    """Say in a sentence where each run looks most."""
    parts = []
    for run, name in zip((before, after), names, strict=True):
        best = int(run.mean[0].argmax())
        offset, mean = int(run.distances[best]), float(run.mean[0, best])
        parts.append(f"{name} most at offset {signed(offset, 0)} ({number(mean, 3)})")
    return f"Mean weight of {head} by offset: {', '.join(parts)}."
