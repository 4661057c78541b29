"""Distances of the parameters of two models of one shape, tensor by tensor."""

from dataclasses import dataclass

import torch
from torch import nn


@dataclass(frozen=True)
class Change:
    """One tensor of both models."""

    name: str
    shape: tuple[int, ...]
    distance: float
    """‖B - A‖, Frobenius."""
    relative: float
    """‖B - A‖ / ‖A‖; infinite where A is all 0 and B is not."""
    cosine: float
    """cos(A, B), NaN where one of them is all 0."""


@dataclass(frozen=True)
class Changes:
    """The tensors that both models have, the one that changed most first; and the others."""

    both: tuple[Change, ...]
    only_first: tuple[str, ...]
    only_second: tuple[str, ...]
    other_shapes: tuple[str, ...]
    """Tensors that both have, with other shapes: no distance is between them."""


def changes(first: nn.Module, second: nn.Module) -> Changes:
    """Compare every floating-point parameter and buffer by its name."""
    a, b = (
        {name: tensor for name, tensor in model.state_dict().items() if tensor.is_floating_point()}
        for model in (first, second)
    )
    result = {
        name: _change(name, a[name], b[name])
        for name in a
        if name in b and a[name].shape == b[name].shape
    }
    return Changes(
        both=tuple(sorted(result.values(), key=lambda change: -change.relative)),
        only_first=tuple(name for name in a if name not in b),
        only_second=tuple(name for name in b if name not in a),
        other_shapes=tuple(name for name in a if name in b and name not in result),
    )


def _change(name: str, a: torch.Tensor, b: torch.Tensor) -> Change:
    shape = tuple(a.shape)
    a, b = (tensor.detach().cpu().double().flatten() for tensor in (a, b))
    distance, length, other = float((b - a).norm()), float(a.norm()), float(b.norm())
    relative = distance / length if length else (float("inf") if distance else 0.0)
    cosine = float(a @ b) / (length * other) if length and other else float("nan")
    return Change(name, shape, distance, relative, cosine)
