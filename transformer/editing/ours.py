"""Edits in models of ours: hooks after each DotProductAttention, which find the thread's edits.

They are installed once per model, when it is first edited, and look into a ContextVar: edits belong
to a call, never to the module."""

import fnmatch
import threading
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import torch
from torch import Tensor, nn

from transformer.checkpoint import Checkpoint
from transformer.editing.checking import check_edits, side_read
from transformer.editing.editor import Change, Editor, Given, Sizes
from transformer.edits.edit import Edit, EditError
from transformer.edits.spelling import edit_kinds
from transformer.models.family import Family, ForcedPass
from transformer.recording.calls import AttentionCall

_EDITING: ContextVar["Editing | None"] = ContextVar("editing", default=None)
_HOOKING = threading.Lock()


class Editing:
    """The edits of one call of one model: the same for every row of a batch, or a list for each."""

    def __init__(
        self,
        edits: Sequence[Edit],
        sides: Sequence[str] = (),
        rows: Sequence[Sequence[Edit]] | None = None,
        references: Mapping[Edit, Tensor] = MappingProxyType({}),
    ) -> None:
        """sides: in the order of embedding; what follows is of the last one.

        rows: further edits, for each row of a batch. references: of edits that refer to something.
        """
        self.edits, self.references = tuple(edits), references
        self._sides, self._n_embedded = sides, 0
        self._all = Editor(edits, references)
        self._rows = None
        if rows is not None:
            self._rows = [Editor((*edits, *row), references) for row in rows]
        self._n_before = 0
        """Words of the target that the cache holds: cross-attention does not show it."""

    def encodings(self, table: Tensor, start: int, n: int) -> Tensor | None:
        """Return the substitutes of a table's rows for positions start .. start + n - 1: [n, D].

        None: the rows as they are. Raises EditError.
        """
        if not self._sides:
            return None
        side = self._sides[min(self._n_embedded, len(self._sides) - 1)]
        self._n_embedded += 1
        return self._all.encodings(side, table, start, n) if self._all.is_moved(side) else None

    def embedded(self, ids: Tensor, rows: Tensor) -> Tensor | None:
        """Return what stands in the place of embeddings [B, T, D] of ids [B, T]; None: these."""
        return None

    @property
    def changes(self) -> dict[tuple[str, int], Change]:
        return self._all.changes

    def attended(
        self,
        kind: str,
        layer: int,
        scale: float,
        heads: Tensor,
        q: Tensor,
        k: Tensor,
        v: Tensor,
        mask: Tensor | None,
        is_causal: bool,
    ) -> Tensor | None:
        """heads: what the attention gave [B, H, Q, d_value], changed in place; or what is returned
        stands in its place.
        """
        if kind == "decoder_self":
            self._n_before = k.size(-2) - q.size(-2)
        first = 0 if kind == "encoder_self" else self._n_before
        for row, editor in enumerate(self._editors(len(heads))):
            if editor.touches(kind, layer):
                own = None if mask is None else mask[row if mask.size(0) > 1 else 0]
                call = AttentionCall(q[row], k[row], v[row], own, scale, is_causal)
                editor.attended(kind, layer, call, heads[row].__getitem__, first)
        return None

    def left_open(self, kind: str, like: Tensor) -> Tensor | None:
        """The keys that no edit hides: bool [B, K], for a tensor [B, ..., K, d]; None: all."""
        editors = self._editors(like.size(0))
        if not any(editor.closes(kind) for editor in editors):
            return None
        cells = torch.ones(len(editors), like.size(-2), dtype=torch.bool)
        for row, editor in enumerate(editors):
            cells[row, editor.closed(kind, cells.size(1))] = False
        return cells.to(like.device)

    def gave(self, kind: str, layer: int, states: Tensor) -> None:
        """states: what a layer gave [B, T, D], changed in place."""
        first = self._n_before if kind == "decoder_self" else 0
        for row, editor in enumerate(self._editors(len(states))):
            editor.stated(kind, layer, states[row], first)

    def joined(self, layer: int, inputs: tuple[Any, ...]) -> tuple[Any, ...] | None:
        """Return what a layer is given in the place of its inputs; None: these."""
        return None

    def _editors(self, n_rows: int) -> Sequence[Editor]:
        return [self._all] * n_rows if self._rows is None else self._rows[:n_rows]


class Listening(Editing):
    """Changes nothing, and keeps what heads and layers give for the first row of a batch."""

    def __init__(self) -> None:
        super().__init__(())
        self.given: Given = {}

    def attended(self, kind: str, layer: int, scale: float, heads: Tensor, *call: Any) -> None:
        self.given[kind, layer, "heads"] = heads[0].clone()

    def gave(self, kind: str, layer: int, states: Tensor) -> None:
        self.given[kind, layer, "states"] = states[0].clone()


@contextmanager
def editing(model: nn.Module, family: Family, edits: Editing) -> Iterator[None]:
    """While entered, this thread's runs of the model are edited."""
    _hook(model, family)
    token = _EDITING.set(edits)
    try:
        yield
    finally:
        _EDITING.reset(token)


def check(checkpoint: Checkpoint, edits: Sequence[Edit], forced: ForcedPass) -> None:
    """Raise EditError for an edit of what a model of ours does not have in this pass."""
    config: Any = checkpoint.config
    sizes = {
        kind: Sizes(
            n_layers=len(places(checkpoint.model, checkpoint.family)[kind]),
            n_heads=config.n_heads,
            n_queries=len(rows.queries) or None,
            n_keys=len(rows.keys) or None,
            is_same_sequence=rows.queries is rows.keys,
        )
        for kind, rows in forced.rows.items()
    }
    sides = {side: len(ids) or None for side, ids in forced.embedded.items()}
    sides_moved = sides if config.positions != "none" else {}
    check_edits(edits, sizes, sides_moved, side_read(checkpoint))
    for edit in edits:
        kind = edit_kinds()[edit.name]
        if kind.states and edit.place == "cross":
            raise EditError(f"{edit}: a layer's state is of encoder_self or decoder_self.")
        if kind.frequencies or kind.bias:
            what = "turns no queries" if kind.frequencies else "adds no bias to its scores"
            raise EditError(f"{edit}: this model {what}, so there is nothing to change.")


def places(model: nn.Module, family: Family) -> dict[str, list[tuple[str, nn.Module]]]:
    """kind -> path and module of each layer's DotProductAttention."""
    result: dict[str, list[tuple[str, nn.Module]]] = defaultdict(list)
    for path, module in model.named_modules():
        for kind, place in family.attentions.items():
            if place is not None and fnmatch.fnmatchcase(path, place):
                result[kind].append((path, module))
    return result


def _hook(model: nn.Module, family: Family) -> None:
    """Install the hooks, once for the life of the model; a deep copy has them already."""
    with _HOOKING:
        if "is_editable" in vars(model):
            return
        for kind, layers in places(model, family).items():
            for layer, (path, module) in enumerate(layers):
                # Before those of the recorder, which samples what was given.
                module.register_forward_hook(_change(kind, layer), prepend=True)
                module.register_forward_pre_hook(_close(kind), prepend=True)
                if kind != "cross":
                    whole = model.get_submodule(".".join(path.split(".")[:-2]))
                    whole.register_forward_pre_hook(_join(layer))
                    whole.register_forward_hook(_state(kind, layer), prepend=True)
        for path, module in model.named_modules():
            if fnmatch.fnmatchcase(path, family.kept["positions"]):
                module.register_forward_hook(_encode, prepend=True)
            if fnmatch.fnmatchcase(path, family.kept["embedding"]):
                module.register_forward_hook(_embed, prepend=True)
            if path == family.kept.get("pool"):
                module.register_forward_pre_hook(_pool, prepend=True)
        vars(model)["is_editable"] = True


def _change(kind: str, layer: int) -> Callable[..., Tensor | None]:
    def change(module: Any, inputs: Any, heads: Tensor) -> Tensor | None:
        edits = _EDITING.get()
        if edits is None:
            return None
        return edits.attended(kind, layer, module.scale, heads, *inputs)

    return change


def _close(kind: str) -> Callable[..., tuple[Any, ...] | None]:
    """Hidden keys are closed as padding is: in the mask, for all rows of a batch at once."""

    def close(module: Any, inputs: tuple[Any, ...]) -> tuple[Any, ...] | None:
        edits = _EDITING.get()
        q, k, v, mask, is_causal = inputs
        cells = None if edits is None else edits.left_open(kind, k)
        if cells is None:
            return None
        cells = cells[:, None, None]
        return q, k, v, cells if mask is None else mask & cells, is_causal

    return close


def _pool(module: Any, inputs: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor] | None:
    edits = _EDITING.get()
    x, real = inputs
    cells = None if edits is None else edits.left_open("encoder_self", x)
    if cells is None:
        return None
    if not bool((real & cells).any(-1).all()):
        raise EditError("Every word is hidden: nothing is left that could be classified.")
    return x, real & cells


def _join(layer: int) -> Callable[..., tuple[Any, ...] | None]:
    def join(module: Any, inputs: tuple[Any, ...]) -> tuple[Any, ...] | None:
        edits = _EDITING.get()
        return None if edits is None else edits.joined(layer, inputs)

    return join


def _state(kind: str, layer: int) -> Callable[..., None]:
    def state(module: Any, inputs: Any, states: Any) -> None:
        edits = _EDITING.get()
        if edits is not None and isinstance(states, Tensor):
            edits.gave(kind, layer, states)

    return state


def _embed(module: Any, inputs: tuple[Tensor], rows: Tensor) -> Tensor | None:
    edits = _EDITING.get()
    return None if edits is None else edits.embedded(inputs[0], rows)


def _encode(module: Any, inputs: Any, rows: Tensor) -> Tensor | None:
    """inputs: how many positions, and the first of them where it is not 0."""
    edits = _EDITING.get()
    if edits is None:
        return None
    n, start = (*inputs, 0)[:2]
    return edits.encodings(module.table, start, n)


# Many groups of edits in one batch that begins as one row: what edits leave alone is run once.

Group = tuple[Edit, ...]


class Growing(Editing):
    """A row joins the batch before the first layer that its edits change: below that layer it is
    the first row, which nothing changes.
    """

    def __init__(self, joins: Mapping[Group, int], references: Mapping[Edit, Tensor]) -> None:
        """joins: group -> the layer before which its row joins."""
        in_order = sorted(joins, key=lambda group: joins[group])
        self.rows: tuple[Group, ...] = ((), *filter(None, in_order))
        """The edits of each row of what the stack gives; none of the first."""
        self._joins = [0, *(joins[group] for group in self.rows[1:])]
        super().__init__((), rows=self.rows, references=references)

    def joined(self, layer: int, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return a layer's inputs: x [B, T, D], a mask and, in a decoder, a cache of all rows.

        Those that join are put below the others.
        """
        x, mask, *others = inputs
        n = sum(join <= layer for join in self._joins)
        x = torch.cat([x, x[:1].expand(n - len(x), -1, -1)])
        if others and others[0].cross is not None:
            cross = tuple(each[:n] for each in others[0].cross)
            others[0] = replace(others[0], cross=cross)
        return (x, mask, *others)
