"""Tensors: where their numbers lie, and which a model holds before a pass."""

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any

import torch
from torch import Tensor, nn

# Tensors: where their numbers lie, and which are among arguments.

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


# Tensors that a model holds before a pass: matrices, constants, caches of earlier passes.


class Held:
    """Tells what a model holds from what a pass makes, by where numbers lie."""

    def __init__(self, modules: Iterable[nn.Module], inputs: Iterable[object] = ()) -> None:
        """Before the pass: a buffer that is written during it is no constant."""
        self._modules = modules
        self._given = {storage(each) for each in tensors_in(inputs)}
        buffers = (each for module in modules for each in module._buffers.values())
        self._buffers = {storage(it): (it, _version(it)) for it in buffers if it is not None}

    @cached_property
    def _parameters(self) -> dict[int, Tensor]:
        """Each under its id, which is its own as long as it is here."""
        both = (each for module in self._modules for each in module._parameters.values())
        return {id(each): each for each in both if each is not None}

    @cached_property
    def _learned(self) -> set[int]:
        return {storage(each) for each in self._parameters.values()}

    @cached_property
    def _lasting(self) -> set[int]:
        """Locate numbers that somebody may overwrite later, before the weights are computed.

        A later pass: buffers, and attributes of modules; training: parameters, which learned
        queries are; whoever ran it: what it was given.
        """
        own = (_kept_in(module) for module in self._modules)
        attributes = {storage(each) for values in own for each in values}
        return {*self._buffers, *attributes, *self._learned, *self._given}

    def is_learned(self, tensor: Tensor) -> bool:
        """Tell whether it is a parameter or a part of one."""
        return id(tensor) in self._parameters or storage(tensor) in self._learned

    def is_constant(self, tensor: Tensor) -> bool:
        """Tell whether it is a buffer, or a part of one, that this pass has not written."""
        buffer, version = self._buffers.get(storage(tensor), (None, None))
        return buffer is not None and _version(buffer) == version

    def lasting(self, tensor: Tensor) -> Tensor:
        """The tensor, or a copy where somebody may overwrite it later, as static caches are."""
        return tensor.clone() if storage(tensor) in self._lasting else tensor

    def are_activations(self, operands: Sequence[Any], result: Tensor) -> bool:
        """Tell whether a product may be scores: nothing is constant, and its keys are not learned.

        operands: (equation, a, b) of an einsum, or (a, b).
        """
        tensors = list(tensors_in(operands))[-2:]
        if len(tensors) < 2 or result.dim() < 2 or not result.is_floating_point():
            return False
        queries, keys = tensors
        if isinstance(operands[0], str):
            terms, _, out = operands[0].replace(" ", "").partition("->")
            if out and out[-1] in terms.split(",")[0]:
                queries, keys = keys, queries
        is_constant = self.is_constant(queries) or self.is_constant(keys)
        return not is_constant and not self.is_learned(keys)


def _kept_in(module: nn.Module) -> Iterator[Tensor]:
    """Tensors that it keeps beside parameters and buffers, also in lists, tuples and dicts."""
    for value in own_attributes(module).values():
        if isinstance(value, Tensor):
            yield value
        elif isinstance(value, list | tuple | dict):
            inner = value.values() if isinstance(value, dict) else value
            yield from (each for each in inner if isinstance(each, Tensor))


def _version(tensor: Tensor) -> int | None:
    """Count how often it was written; None for tensors that were made for inference only."""
    return None if tensor.is_inference() else tensor._version
