"""Operators that may stand between the heads of a layer and what the layer gives."""

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor

from transformer.watch.calls.layer import DROPOUT, FUNCTION, GATE, NORM, Layer
from transformer.watch.calls.output import Output
from transformer.watch.calls.unedited import Unedited
from transformer.watch.capture.operators import AT_TIMES, register
from transformer.watch.capture.tensors import storage


class Following(Unedited):
    """Tells the layer under way of operators, from the first matrix that meets its heads on."""

    _layer: Layer

    def _added(self, args: Any, kwargs: Any, result: Tensor) -> None:
        self._summed(args, result, float(kwargs.get("alpha", 1.0)))

    def _taken_away(self, args: Any, kwargs: Any, result: Tensor) -> None:
        self._summed(args, result, -float(kwargs.get("alpha", 1.0)))

    def _summed(self, args: Any, result: Tensor, factor: float) -> None:
        for output, (a, b) in self._following(args):
            output.added(a, b, result, factor)

    def _times(self, args: Any, kwargs: Any, result: Tensor) -> None:
        self._layer.multiplied(args, is_over=False)
        for output, (a, b) in self._following(args):
            output.scaled(a, b, result, is_over=False)

    def _over(self, args: Any, kwargs: Any, result: Tensor) -> None:
        self._layer.multiplied(args, is_over=True)
        for output, (a, b) in self._following(args):
            output.scaled(a, b, result, is_over=True)

    def _bent(self, args: Any, kwargs: Any, result: Tensor) -> None:
        self._layer.met_between(args[0], FUNCTION)
        if self._layer.output is not None:
            self._layer.output.bent(args[0], result, is_gate=False)

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
for _each in (aten.relu, aten.gelu, aten.silu, aten.sigmoid, aten.tanh, aten.leaky_relu, aten.elu):
    register(_each.default, AT_TIMES, Following._bent)
register(aten.glu.default, AT_TIMES, Following._gated)
register(aten.dropout.default, AT_TIMES, Following._dropped)
for _each in (aten.layer_norm, aten.rms_norm, aten.group_norm):
    register(_each.default, AT_TIMES, Following._normed)
