"""The singular values of a matrix, from the largest on."""

from torch import Tensor

from transformer.inspection.tensor_statistics import effective_rank
from viz.exhibits.chart import Axis, Chart, Curve, values_of

HEIGHT, MARKED = 242, 64
"""Pixels; values beyond which points have no marks."""


def chart(values: Tensor) -> Chart:
    """values: [N], falling."""
    numbers, point = range(1, len(values) + 1), 6 if len(values) <= MARKED else 0
    curve = Curve("", numbers, values.numpy(), 0, "σ({x}) = {y:.4f}", point=point)
    x, y = Axis("number, by size", format=",d"), values_of("singular value σ")
    return Chart("singular_values", "Singular values", "", x, y, (curve,), HEIGHT)


def describe(values: Tensor) -> str:
    return (
        f"{len(values):,} singular values fall from {values[0]:.4f} to {values[-1]:.4f}; "
        f"the effective rank is {effective_rank(values):.2f}."
    )
