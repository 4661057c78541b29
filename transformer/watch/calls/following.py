"""Operators that may stand between the heads of a layer and what the layer gives."""

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor

from transformer.watch.calls.layer import DROPOUT, FUNCTION, GATE, MASK, MEAN, NORM, Layer
from transformer.watch.calls.output import Output
from transformer.watch.calls.unedited import Unedited
from transformer.watch.capture.operators import ALWAYS, AT_TIMES, register
from transformer.watch.capture.tensors import storage


class Following(Unedited):
    """Tells the layer under way of operators, from the first matrix that meets its heads on."""

    _layer: Layer

    def _added(self, args: Any, kwargs: Any, result: Tensor) -> None:
        self._summed(args, result, float(kwargs.get("alpha", 1.0)))

    def _taken_away(self, args: Any, kwargs: Any, result: Tensor) -> None:
        self._summed(args, result, -float(kwargs.get("alpha", 1.0)))

    def _summed(self, args: Any, result: Tensor, factor: float) -> None:
        for each, other in (args[:2], args[1::-1]):
            is_of_rows = isinstance(other, Tensor) and other.dim() > 1 and other.size(-1) == 1
            if is_of_rows:
                self._layer.met_between(each, NORM)
            else:
                self._layer.summed(each, result)
        for output, (a, b) in self._following(args):
            output.added(a, b, result, factor)

    def _times(self, args: Any, kwargs: Any, result: Tensor) -> None:
        self._layer.multiplied(args, result, is_over=False)
        for output, (a, b) in self._following(args):
            output.scaled(a, b, result, is_over=False)

    def _over(self, args: Any, kwargs: Any, result: Tensor) -> None:
        self._layer.multiplied(args, result, is_over=True)
        for output, (a, b) in self._following(args):
            output.scaled(a, b, result, is_over=True)

    def _turned_round(self, args: Any, kwargs: Any, result: Tensor) -> None:
        self._times((args[0], -1.0), kwargs, result)

    def _averaged(self, args: Any, kwargs: Any, result: Tensor) -> None:
        axes = args[1] if len(args) > 1 and args[1] is not None else -1
        several = (axes,) if isinstance(axes, int) else axes
        if not {-1, args[0].dim() - 1} & {*several}:  # else of a norm
            self._layer.met_between(args[0], MEAN)

    def _covered(self, args: Any, kwargs: Any, result: Tensor) -> None:
        for each in args[:3]:
            self._layer.met_between(each, MASK)

    def _bent(self, args: Any, kwargs: Any, result: Tensor) -> None:
        self._layer.met_between(args[0], FUNCTION)
        if self._layer.output is not None:
            self._layer.output.bent(args[0], result, is_gate=False)

    def _softened(self, args: Any, kwargs: Any, result: Tensor) -> None:
        self._bent(args, kwargs, result)
        self._any_softmax(args, result)

    def _any_softmax(self, args: Any, result: Tensor) -> None:
        """Here a softmax over something that is no product of activations may be noted down."""

    def _gated(self, args: Any, kwargs: Any, result: Tensor) -> None:
        self._layer.met_between(args[0], GATE)
        if self._layer.output is not None:
            self._layer.output.bent(args[0], result, is_gate=True)

    def _dropped(self, args: Any, kwargs: Any, result: Tensor) -> None:
        if storage(result) != storage(args[0]):  # else it rests
            self._layer.met_between(args[0], DROPOUT)
        if self._layer.output is not None:
            self._layer.output.dropped(args[0], result)

    def _normed(self, args: Any, kwargs: Any, result: Tensor) -> None:
        self._layer.met_between(args[0], NORM)
        if self._layer.output is not None:
            self._layer.output.normed(args[0])

    def _following(self, args: Any) -> Iterator[tuple[Output, tuple[Tensor, Tensor]]]:
        """Yield what follows the heads, with the two operands; nothing where they are none."""
        output = self._layer.output
        if output is None or len(args) < 2:
            return
        a, b = (torch.tensor(it) if isinstance(it, int | float) else it for it in args[:2])
        if isinstance(a, Tensor) and isinstance(b, Tensor):
            yield output, (a, b)


aten = torch.ops.aten
for _each in (aten.sub, aten.sub_):
    register(_each.Tensor, AT_TIMES, Following._taken_away)
for _each in (aten.mul, aten.mul_):
    register(_each.Tensor, AT_TIMES, Following._times)
for _each in (aten.div, aten.div_):
    register(_each.Tensor, AT_TIMES, Following._over)
_BENDING = (
    *(aten.relu, aten.gelu, aten.silu, aten.sigmoid, aten.tanh, aten.leaky_relu, aten.elu),
    *(aten.softplus, aten.clamp, aten.hardtanh, aten.hardsigmoid, aten.hardswish, aten.mish),
    *(aten.exp, aten.abs, aten.relu6, aten.selu, aten.celu, aten.prelu),
)
for _each in _BENDING:
    register(_each.default, AT_TIMES, Following._bent)
register(aten.softmax.int, ALWAYS, Following._softened)
register(aten.neg.default, AT_TIMES, Following._turned_round)
register(aten.mean.dim, AT_TIMES, Following._averaged)
register(aten.sum.dim_IntList, AT_TIMES, Following._averaged)
for _each in (aten.masked_fill, aten.masked_fill_):
    register(_each.Scalar, AT_TIMES, Following._covered)
    register(_each.Tensor, AT_TIMES, Following._covered)
register(aten.where.self, AT_TIMES, Following._covered)
register(aten.glu.default, AT_TIMES, Following._gated)
register(aten.dropout.default, AT_TIMES, Following._dropped)
for _each in (aten.layer_norm, aten.rms_norm, aten.group_norm):
    register(_each.default, AT_TIMES, Following._normed)
