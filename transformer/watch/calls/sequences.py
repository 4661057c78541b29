"""Sequences before attention reads them: operators that make them of tables, patches, positions."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from transformer.watch.calls.following import Following
from transformer.watch.calls.layer import CONVOLUTION
from transformer.watch.calls.seen import Seen
from transformer.watch.capture.operators import ALWAYS, AT_TIMES, register
from transformer.watch.capture.picked import Picked
from transformer.watch.capture.place import Places, Running
from transformer.watch.capture.reordered import Reordered
from transformer.watch.capture.tables import Tables
from transformer.watch.capture.tensors import tensors_in
from transformer.watch.capture.traces import Traces
from transformer.watch.capture.turning import Turns


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
        self.reordered = Reordered(inputs)
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
        tensor, indices = args[:2]
        self.reordered.indexed(tensor, indices, len(self.seen))

    def _flipped(self, args: Any, kwargs: Any, result: Tensor) -> None:
        axes = kwargs.get("dims", args[1:])
        self.reordered.flipped(args[0], _whole(axes), len(self.seen))

    def _rolled(self, args: Any, kwargs: Any, result: Tensor) -> None:
        shifts, axes = (*args[1:], *kwargs.values(), ())[:2]
        self.reordered.rolled(args[0], _whole(shifts), _whole(axes), len(self.seen))

    def _are_picked(self, operands: Sequence[Any], sizes: Sequence[int]) -> bool:
        """Tell whether queries or keys were; of one query and one key there is nothing to take."""
        return tuple(sizes) != (1, 1) and any(it in self._picked for it in tensors_in(operands))

    def _turning(self, args: Any, kwargs: Any) -> None:
        self._edit_angles(args[-1])

    def _cosines(self, args: Any, kwargs: Any, result: Tensor) -> None:
        self.turns.called(torch.cos, result, args, len(self.seen))
        self._watch_functions()


def _whole(numbers: Any) -> tuple[int, ...]:
    """Numbers as torch's functions take them, by themselves or in lists: always in one tuple."""
    if isinstance(numbers, int):
        return (numbers,)
    return tuple(number for each in numbers for number in _whole(each))


aten = torch.ops.aten
register(aten.embedding.default, ALWAYS, Sequences._lookup)
for _each in (aten.conv1d, aten.conv2d, aten.conv3d):
    register(_each.padding, ALWAYS, Sequences._convolved)
    register(_each.default, ALWAYS, Sequences._convolved)
register(aten.index_select.default, ALWAYS, Sequences._select)
register(aten.index.Tensor, ALWAYS, Sequences._indexed)
register(aten.flip.default, ALWAYS, Sequences._flipped)
register(aten.roll.default, ALWAYS, Sequences._rolled)
register(aten.cos.default, ALWAYS, Sequences._cosines, before=Sequences._turning)
register(aten.sin.default, ALWAYS, before=Sequences._turning)
register(aten.polar.default, ALWAYS, Sequences._cosines, before=Sequences._turning)
for _each in (aten.add, aten.add_):
    register(_each.Tensor, AT_TIMES, Sequences._added, before=Sequences._adding)
