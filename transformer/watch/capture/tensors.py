"""Tensors: where their numbers lie, and which are among arguments."""

from collections.abc import Iterable, Iterator
from typing import Any

import torch
from torch import Tensor, nn

_USUAL = frozenset(vars(nn.Module()))
"""Attributes that every module has: none of its own."""
_PLAIN = frozenset({bool, int, float, str, type(None)})
"""Types of most others."""


def storage(tensor: Tensor | None) -> int:
    """The address of what holds them: views of one another say the same."""
    if tensor is None:
        return -1
    if tensor.layout != torch.strided:  # sparse: its numbers lie in several places
        return -id(tensor)
    return tensor.untyped_storage().data_ptr()


def tensors_in(args: Iterable[Any]) -> Iterator[Tensor]:
    """The tensors among arguments, in order, and in lists among them."""
    for argument in args:
        if isinstance(argument, Tensor):
            yield argument
        elif isinstance(argument, list | tuple):
            yield from (each for each in argument if isinstance(each, Tensor))


def own_attributes(module: nn.Module) -> dict[str, Any]:
    """Attributes of a module beside parameters, buffers, modules and plain values."""
    return {
        name: value
        for name, value in vars(module).items()
        if name not in _USUAL and type(value) not in _PLAIN
    }
