"""Tensors that stand in two parts of one model, with values that differ: no reader can be right."""

from collections.abc import Callable, Mapping
from typing import Any

from torch import Tensor


def contradictions(
    inside: Mapping[str, Mapping[str, Any]], values: Callable[[str, str], Tensor]
) -> dict[str, str]:
    """File -> what it says otherwise than one before it.

    inside: file -> what it holds, by name. values: of a file and a name; read only where needed.
    """
    first: dict[str, str] = {}
    faults: dict[str, str] = {}
    for file, tensors in inside.items():
        for name in tensors:
            before = first.setdefault(name, file)
            if before != file and not _are_equal(values(before, name), values(file, name)):
                faults[file] = f"holds other values of {name} than {before}"
    return faults


def _are_equal(first: Tensor, second: Tensor) -> bool:
    """Compare what was saved, where NaN is NaN."""
    if (first.shape, first.dtype) != (second.shape, second.dtype):
        return False
    return bool(((first == second) | (first != first) & (second != second)).all())
