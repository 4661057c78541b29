"""Operators between the heads of a layer and what it gives, and those that make sequences."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from transformer.watch.calls.layer import (
    CONVOLUTION,
    DROPOUT,
    FUNCTION,
    GATE,
    MASK,
    MEAN,
    NORM,
    Layer,
)
from transformer.watch.calls.marks import Addend, Origin
from transformer.watch.calls.output import Output
from transformer.watch.calls.seen import Seen
from transformer.watch.capture.followed import Followed
from transformer.watch.capture.operators import ALWAYS, AT_TIMES, register
from transformer.watch.capture.place import Places, Running
from transformer.watch.capture.sources import Picked, Traces
from transformer.watch.capture.tables import Tables, Where
from transformer.watch.capture.tensors import storage, tensors_in
from transformer.watch.capture.turns import Turns

# Points of a watched pass where it may be changed on its way; by itself it is not.
#
# `editing.EditingWatcher` says otherwise. A plain watcher calls the same methods at the same
# places, so that what is edited is what is recorded.


class Unedited:
    """A pass in which nothing is changed."""

    def _edit(self, seen: Seen, heads: Tensor) -> None:
        """Here an attention may be changed, in what it gave [..., Q, d_value]."""

    def _edit_weights(
        self, softmax: Origin, scores: Tensor, weights: Tensor, addends: Sequence[Addend]
    ) -> None:
        """The same of attention by hand, in its weights [..., Q, K]."""

    def _edit_positions(self, where: Where, operands: Sequence[Any]) -> Sequence[Any]:
        """The same where rows of positions may be added."""
        return operands

    def _edit_angles(self, angles: Tensor) -> None:
        """The same of what cosines and sines are made of [..., T, n]."""

    def _edit_projected(self, seen: Seen, result: Tensor) -> None:
        """The same after W_O [..., D]."""


# Operators that may stand between the heads of a layer and what the layer gives.


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
        a, b = (
            torch.tensor(it, device="cpu") if isinstance(it, int | float) else it for it in args[:2]
        )
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
register(aten.dropout.default, AT_TIMES, lambda watcher, *call: watcher._dropped(*call))
for _each in (aten.layer_norm, aten.rms_norm, aten.group_norm):
    register(_each.default, AT_TIMES, Following._normed)


# Sequences before attention reads them: operators that make them of tables, patches, positions.


class Sequences(Following):
    """Notes down which rows become a sequence, and what tells their places apart."""

    n_texts = 1
    """The texts of a padded batch, where the model reads one; each call has then the heads of all
    of them, one text after the other."""

    def __init__(
        self, paths: Mapping[nn.Module, str], inputs: Iterable[object], *, is_for_edits: bool
    ) -> None:
        """is_for_edits: whether to note down where positions are added. inputs: of the model."""
        self.seen: list[Seen] = []
        """The calls of attention so far."""
        self.tables = Tables(paths)
        """Rows of tables that met a sequence: positions may be among them."""
        self.turns = Turns()
        self._picked = Picked()
        inputs = tuple(inputs)
        self.homes: Followed | None = None
        """A follower of rows to the positions that they are of; None: nobody asked."""
        self._traces = Traces(inputs)
        self._adding_at = Places(paths) if is_for_edits else None

    def folded(self, tensor: Tensor) -> Tensor:
        """The heads of all texts along one axis: [B, H, T, d] -> [B * H, T, d]; else as it is."""
        is_batch = tensor.dim() > 3 and tensor.size(0) == self.n_texts > 1
        return tensor.flatten(0, -3) if is_batch else tensor

    def folded_mask(self, mask: Tensor | None, n_heads: int) -> Tensor | None:
        """The same of a mask [B or 1, H or 1, Q or 1, K] for all n_heads = B * H."""
        if mask is None or self.n_texts == 1 or mask.dim() < 4:
            return mask
        shape = (self.n_texts, n_heads // self.n_texts, *mask.shape[-2:])
        return mask.expand(shape).flatten(0, 1)

    def forget(self) -> None:
        """The pass is over."""
        self._traces.forget()
        if self._adding_at is not None:
            self._adding_at.forget()

    def _watch_functions(self) -> None:
        """From here on all of torch's functions are watched."""

    def _adding(self, args: Any, kwargs: Any) -> Sequence[Any] | None:
        places = self._adding_at
        if places is None:
            self.tables.addition(args, kwargs, len(self.seen))
            return None
        where = self.tables.where(args, kwargs, lambda: places.here(Running(), -1).path)
        changed = args if where is None else self._edit_positions(where, args)
        self.tables.addition(changed, kwargs, len(self.seen), where)
        return changed

    def _lookup(self, args: Any, kwargs: Any, result: Tensor) -> None:
        self.tables.looked_up(result, *args[:2])
        self._traces.looked_up(*args[:2])

    def _convolved(self, args: Any, kwargs: Any, result: Tensor) -> None:
        self._traces.convolved(*args[:2])
        for each in (args[0], args[0].mT):
            self._layer.met_between(each, CONVOLUTION)

    def _select(self, args: Any, kwargs: Any, result: Tensor) -> None:
        table, axis, ids = args
        if axis == 0:
            self.tables.looked_up(result, table, ids)

    def _indexed(self, args: Any, kwargs: Any, result: Tensor) -> None:
        self._picked.indexed(args, kwargs, result)

    def _are_picked(self, operands: Sequence[Any], sizes: Sequence[int]) -> bool:
        """Tell whether queries or keys were; of one query and one key there is nothing to take."""
        return tuple(sizes) != (1, 1) and any(it in self._picked for it in tensors_in(operands))

    def _recurred(self, args: Any, kwargs: Any, result: Any) -> None:
        """Each row that a recurrent layer gives is that of what it read there."""
        if self.homes is not None:
            first = next(tensors_in([result] if isinstance(result, Tensor) else result))
            self.homes.keep_rows(first, args[0])

    def _turning(self, args: Any, kwargs: Any) -> None:
        self._edit_angles(args[-1])

    def _cosines(self, args: Any, kwargs: Any, result: Tensor) -> None:
        self.turns.called(torch.cos, result, args, len(self.seen))
        if self._adding_at is not None:  # edits ask what the pass turns by them
            self._watch_functions()


register(aten.embedding.default, ALWAYS, Sequences._lookup)
for _each_sequences in (aten.conv1d, aten.conv2d, aten.conv3d):
    register(_each_sequences.padding, ALWAYS, Sequences._convolved)
    register(_each_sequences.default, ALWAYS, Sequences._convolved)
register(aten.index_select.default, ALWAYS, Sequences._select)
register(aten.index.Tensor, ALWAYS, Sequences._indexed)
for _each_sequences in (aten.lstm, aten.gru, aten.rnn_tanh, aten.rnn_relu):
    register(_each_sequences.input, ALWAYS, Sequences._recurred)
    register(_each_sequences.data, ALWAYS, Sequences._recurred)
for _each_sequences in (aten.lstm_cell, aten.gru_cell, aten.rnn_tanh_cell, aten.rnn_relu_cell):
    register(_each_sequences.default, ALWAYS, Sequences._recurred)
register(aten.cos.default, ALWAYS, Sequences._cosines, before=Sequences._turning)
register(aten.sin.default, ALWAYS, before=Sequences._turning)
register(aten.polar.default, ALWAYS, Sequences._cosines, before=Sequences._turning)
for _each_sequences in (aten.add, aten.add_):
    register(_each_sequences.Tensor, AT_TIMES, Sequences._added, before=Sequences._adding)
