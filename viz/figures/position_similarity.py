"""The likeness of learned positions: the cosine between any two."""

from torch import Tensor

from viz.exhibits.chart import Axis, Chart
from viz.exhibits.shading import differences
from viz.figures.heat_map import heat_map
from viz.labels import number


def chart(cosines: Tensor) -> Chart:
    """cosines: [P, P]."""
    title, hover = ("Cosine", " between learned positions"), "positions {y} and {x}: {z:.4f}"
    side, shading = Axis("position"), differences("cosine")
    return heat_map("position_similarity", title, cosines, side, side, shading, hover)


def describe(cosines: Tensor) -> str:
    n = len(cosines)
    next_to = cosines.diagonal(1)
    near = f"; neighbours have {number(next_to.mean(), 4)} on average" if n > 1 else ""
    return f"Cosines between {n} learned positions, least {number(cosines.min(), 4)}{near}."
