"""The result of a pass: logits or what else a module gives, and whether another gives the same."""

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import torch
from torch import Tensor

from transformer.recording.check import CLOSE

# Logits among what a module gives, and what is there instead.

_SHARES = {torch.float64: 1e-5, torch.float32: 1e-5}
"""The distance from 1 by which rounding alone may move the sum of probabilities."""
_MANY = 16
"""Logits that hardly ever all lie between 0 and 1."""
OF_SHARES = "{} gives probabilities, not logits: the numbers of each row sum to 1{}."
MAY_BE_SHARES = (
    "All numbers that {} gives lie between 0 and 1, and are taken for logits: if they are "
    "probabilities, as after a sigmoid, give what stands before it."
)


def logits_of(output: Any) -> Tensor:
    """[T, V] or [C], where a module's output has some, whatever its numbers are; else empty."""
    logits = output.get("logits") if isinstance(output, Mapping) else None
    logits = getattr(output, "logits", output) if logits is None else logits
    if not isinstance(logits, Tensor) or not logits.is_floating_point():
        return torch.zeros(0, device="cpu")
    if logits.dim() > 1 and logits.size(0) == 1:
        logits = logits[0]
    return logits.detach() if logits.dim() in (1, 2) else torch.zeros(0, device="cpu")


def notes_on_values(name: str, values: Tensor, so: str = "") -> tuple[str, ...]:
    """Say that numbers [T, V] or [C] are or may be no logits, in a sentence; nothing if they are.

    so: what follows from it, in a clause.
    """
    if are_shares(values):
        return (OF_SHARES.format(name, so),)
    is_between = values.numel() >= _MANY and bool(((values >= 0) & (values <= 1)).all())
    return (MAY_BE_SHARES.format(name),) if is_between else ()


def are_shares(values: Tensor) -> bool:
    """Tell whether rows [T, V] or [C] are probabilities: none is negative, and each sums to 1."""
    if values.size(-1) < 2 or not values.numel():
        return False
    near = _SHARES.get(values.dtype, 0.02)

    def are(rows: Tensor) -> bool:
        sums = rows.sum(-1, dtype=torch.float32)
        return bool((rows >= 0).all()) and bool(((sums - 1).abs() <= near).all())

    return are(values.reshape(-1, values.size(-1))[:1]) and are(values)  # most fail at the first


def log_of_shares(values: Tensor) -> Tensor:
    """The logarithms of probabilities, finite where one is 0."""
    return values.clamp_min(torch.finfo(values.dtype).tiny).log()


def described(output: Any) -> str:
    """Say what a module gives: a tensor's sizes, or what others consist of."""
    if isinstance(output, Tensor):
        return f"a tensor {list(output.shape)} of {str(output.dtype).removeprefix('torch.')}"
    if isinstance(output, Mapping):
        return f"a {type(output).__name__} of {', '.join(map(str, output)) or 'nothing'}"
    if isinstance(output, tuple | list) and output:
        return f"a {type(output).__name__} that begins with {described(output[0])}"
    return type(output).__name__


# Two passes over one input: whether they give the same.

DRAWS = (
    "{} draws random numbers in its pass (dropout that eval() does not switch off, as F.dropout "
    "without training=self.training, sampling or noise): another pass may give other numbers, and "
    "what an edit changes cannot be told from that."
)
DIFFERS = (
    "A second pass of {} over the same input gives something else{}: it keeps something from pass "
    "to pass, or draws random numbers. What an edit changes cannot be told from that: have its "
    "forward begin from the same state each time."
)


def difference(name: str, first: Any, second: Any) -> str:
    """Say in a sentence that two passes gave something else; empty: they gave the same."""
    ones, others = list(_tensors(first)), list(_tensors(second))
    if [each.shape for each in ones] != [each.shape for each in others]:
        return DIFFERS.format(name, ", of another size")
    for one, other in zip(ones, others, strict=True):
        if torch.equal(one, other):
            continue
        a, b = (each.double().nan_to_num(0, posinf=0, neginf=0) for each in (one, other))
        apart, largest = float((a - b).abs().max()), float(a.abs().max())
        is_number = torch.equal(one.isfinite(), other.isfinite())
        if not is_number or apart > CLOSE.get(one.dtype, 1e-4) * largest:
            return DIFFERS.format(name, f", by up to {apart:.2g}" if is_number else "")
    return ""


def _tensors(value: Any) -> Iterator[Tensor]:
    """Yield tensors of numbers among what a module gave, in order."""
    if isinstance(value, Tensor):
        if value.layout == torch.strided and not value.is_complex():
            yield value
    elif isinstance(value, Mapping | list | tuple):
        for each in value.values() if isinstance(value, Mapping) else value:
            yield from _tensors(each)
    elif is_dataclass(value):
        for field in fields(value):
            yield from _tensors(getattr(value, field.name))
