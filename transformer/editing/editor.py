"""Edits at work: what they make of each attention while a model runs."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType

import torch
from torch import Tensor

from transformer.checkpoint import Checkpoint
from transformer.device import at_least_single
from transformer.edits.edit import NUMBERS, Edit, EditError, EditKind
from transformer.edits.spelling import edit_kinds
from transformer.inputs import source_ids, target_ids
from transformer.recording.calls import AttentionCall
from transformer.token import Token

# Changes: what edits have made of the call of a layer, as a recording keeps it.


@dataclass(frozen=True, eq=False)
class Change:
    """The change that edits made of one layer's call, so that a recording of it says the same."""

    added: Tensor | None = None
    """[H, Q, K] to the scores."""
    open: Tensor | None = None
    """bool [H, Q, K]; None: nothing was cut."""
    replaced: Mapping[int, Tensor] = field(default_factory=dict)
    """Head -> its output [Q, d_value]."""

    def of(self, call: AttentionCall) -> AttentionCall:
        """The call with what was done to it."""
        mask = call.mask
        if self.open is not None:
            mask = self.open if mask is None else mask & self.open
        safe = call.is_safe or self.open is not None  # a row that may look at nothing is 0
        return replace(call, added=self.added, mask=mask, replaced=self.replaced, is_safe=safe)


class Cells:
    """Cells [H, Q, K] of a call, made when the first head puts some there."""

    def __init__(self, call: AttentionCall) -> None:
        self._shape = (*call.q.shape[:2], call.k.size(1))
        self.all: Tensor | None = None

    def put(self, head: int, cells: Tensor, others: float | bool) -> None:
        """Fill a head with cells [Q, K]; others: what stands in heads that nobody fills."""
        if self.all is None:
            self.all = cells.new_full(self._shape, others)
        self.all[head] = cells


# The attentions that an edit changes.


def kinds_of(edit: Edit) -> tuple[str, ...]:
    """The kinds of attention that an edit is of, where a model has them; none of positions."""
    kind = edit_kinds()[edit.name]
    if kind.closes is not None:
        return kind.closes.get(edit.place, ())
    return () if kind.of == "side" else (edit.place,)


def first_layer(edit: Edit) -> int:
    """The first layer that an edit changes."""
    kind = edit_kinds()[edit.name]
    return 0 if kind.of in ("kind", "read word") else edit.layer


# Edits at work: what they make of each attention while a model runs.

Act = tuple[Edit, EditKind]
Given = dict[tuple[str, int, str], Tensor]
"""(kind, layer, "heads") -> what heads gave [H, T, d_value]; "states" -> the layer [T, D]."""
OfHead = Callable[[int], Tensor]
"""A head's output before W_O [Q, d_value], as a view of where the model keeps it."""


@dataclass(frozen=True)
class Sizes:
    """Sizes of one kind of attention; queries and keys are None where a text is still written."""

    n_layers: int
    n_heads: int
    n_queries: int | None
    n_keys: int | None
    is_same_sequence: bool = True


class Editor:
    """The edits of one call, for attentions that run one after the other.

    It holds nothing of the model, and the model nothing of it: any number may be at work at once.
    """

    def __init__(
        self, edits: Sequence[Edit] = (), references: Mapping[Edit, Tensor] = MappingProxyType({})
    ) -> None:
        """references: what edits refer to that refer to something."""
        self.edits, self._references = tuple(edits), references
        self._heads: dict[tuple[str, int], dict[int, list[Act]]] = {}
        """(kind, layer) -> head -> what is done to it, in the order of the edits."""
        self._kinds: dict[str, list[Act]] = defaultdict(list)
        """Kind of attention -> what is done to all of its heads."""
        self._sides: dict[str, list[Act]] = defaultdict(list)
        self._words: dict[tuple[str, int], list[Act]] = defaultdict(list)
        self._closed: dict[str, list[Edit]] = defaultdict(list)
        """Kind of attention -> the edits that close keys in all of its layers and heads."""
        for edit in edits:
            kind = edit_kinds()[edit.name]
            if kind.of == "side":
                self._sides[edit.place].append((edit, kind))
            elif kind.of == "read word":
                for name in kinds_of(edit):
                    self._closed[name].append(edit)
            elif kind.of == "word":
                self._words[edit.place, edit.layer].append((edit, kind))
            elif kind.of == "kind":
                self._kinds[edit.place].append((edit, kind))
            else:
                layer = self._heads.setdefault((edit.place, edit.layer), {})
                layer.setdefault(edit.head, []).append((edit, kind))
        self.changes: dict[tuple[str, int], Change] = {}
        """(kind, layer) -> what was done there last."""
        self.met: set[Edit] = set()
        """The edits that have found what they are of."""

    def touches(self, kind: str, layer: int) -> bool:
        return (kind, layer) in self._heads or kind in self._kinds

    def closes(self, kind: str) -> bool:
        """Tell whether an edit closes keys of this kind of attention, in every layer and head."""
        return kind in self._closed

    def closed(self, kind: str, n_keys: int) -> Tensor:
        """The keys [n] that nobody may look at, of those that are there."""
        edits = self._closed.get(kind, ())
        self.met.update(edits)
        row = -1 if kind == "decoder_self" else 0  # the text as the decoder reads it is the last
        keys = torch.cat([torch.empty(0).long(), *(self._references[edit][row] for edit in edits)])
        return keys[keys < n_keys]

    def hidden(self, n: int) -> tuple[int, ...]:
        """The rows that are of hidden words, of the n that a model gives for a text."""
        return tuple(sorted(set(self.closed("decoder_self", n).tolist())))

    def states(self, kind: str, layer: int) -> bool:
        """Tell whether an edit is of what this layer gives."""
        return (kind, layer) in self._words

    def is_moved(self, side: str) -> bool:
        """Tell whether an edit is of the positions of this side."""
        return side in self._sides

    def acts(self, kind: str, layer: int, head: int) -> list[Act]:
        """Return the acts on a head."""
        own = self._heads.get((kind, layer), {}).get(head, [])
        return self._kinds[kind] + own if kind in self._kinds else own

    def attended(
        self,
        kind: str,
        layer: int,
        call: AttentionCall,
        of_head: OfHead,
        first: int = 0,
        offset: int = 0,
    ) -> Change | None:
        """Change what an attention gave, in place; None where no edit is of that.

        Rows that no edit changes keep every bit. first: the number of the call's first query;
        offset: of its first head, where a layer has several calls. Raises EditError.
        """
        if not self.touches(kind, layer) and not self.closes(kind):
            return None
        added, is_open = Cells(call), Cells(call)
        replaced = {}
        for head in self._touched(kind, layer, offset, call.n_heads):
            one, z = call.only(head - offset), of_head(head - offset)
            if self.rescores(kind, layer, head):
                closed = ~one.allowed()[0]
                v = at_least_single(one.v[0])
                before = one.scores_in(v.dtype)[0].masked_fill(closed, -torch.inf)  # [Q, K]
                after = self.rescored(kind, layer, head, before, one.bias, first)
                rows = (after != before).any(-1)
                if bool(rows.any()):
                    z[rows] = (softmax(after[rows]) @ v).to(z.dtype)
                    is_cut = after.isinf() & ~closed
                    added.put(head - offset, (after - before).masked_fill(after.isinf(), 0.0), 0.0)
                    is_open.put(head - offset, ~is_cut, True)
            if self.reheaded(kind, layer, head, z, first):
                replaced[head - offset] = z.to(torch.float32, copy=True)
        change = Change(added.all, is_open.all, replaced)
        self.changes[kind, layer] = change
        return change

    def reheads(self, kind: str, layer: int, n_heads: int, of_head: OfHead, offset: int) -> Change:
        """The same where scores were changed before, or are not known."""
        heads = self._touched(kind, layer, offset, n_heads)
        views = {head - offset: of_head(head - offset) for head in heads}
        return Change(
            replaced={
                head: z.to(torch.float32, copy=True)
                for head, z in views.items()
                if self.reheaded(kind, layer, head + offset, z)
            }
        )

    def _touched(self, kind: str, layer: int, offset: int, n_heads: int) -> list[int]:
        """Return the edited ones of the heads offset .. offset + n_heads - 1."""
        named = self._heads.get((kind, layer), {})
        every = kind in self._kinds or self.closes(kind)
        return [it for it in range(offset, offset + n_heads) if every or it in named]

    def rescores(self, kind: str, layer: int, head: int) -> bool:
        """Tell whether an edit is of the scores of this head."""
        acts = self.acts(kind, layer, head)
        return self.closes(kind) or any(each.scores or each.bias for _, each in acts)

    def rescored(
        self,
        kind: str,
        layer: int,
        head: int,
        before: Tensor,
        bias: Tensor | None = None,
        first: int = 0,
    ) -> Tensor:
        """The scores of a head [Q, K] as edits leave them.

        before: -inf where a mask closes; these cells stay closed, and so are hidden keys. bias:
        what is in them for places [1, 1 or Q, K]; None: nothing. first: the number of the first
        query. Raises EditError.
        """
        before = before.clone()
        before[:, self.closed(kind, before.size(1))] = -torch.inf
        after = before.clone()
        for edit, each in self.acts(kind, layer, head):
            if each.bias is not None and bias is not None:
                self.met.add(edit)
                own = bias[0].to(before.dtype).expand(before.shape)
                after = after + (each.bias(edit, own) - own)
            if each.scores is not None:
                self.met.add(edit)
                after = _rescored(edit, each, after, first)
            after = after.masked_fill(before == -torch.inf, -torch.inf)
            lost = ~after.isfinite().any(-1) & before.isfinite().any(-1)
            if bool(lost.any()):
                query = first + int(lost.nonzero()[0])
                raise EditError(f"{edit} leaves query {query} no key to look at.")
        return after

    def reheaded(self, kind: str, layer: int, head: int, z: Tensor, first: int = 0) -> bool:
        """Change a head's output [Q, d_value] in place; whether an edit is of that."""
        is_changed = False
        for edit, each in self.acts(kind, layer, head):
            if each.heads is not None:
                self.met.add(edit)
                reference = self._references.get(edit)
                if reference is not None and each.same_length:
                    reference = reference[first : first + len(z)]
                z.copy_(each.heads(edit, z, reference))
                is_changed = True
        return is_changed

    def stated(self, kind: str, layer: int, states: Tensor, first: int = 0) -> None:
        """Change what a layer gave [T, D], in place; first: the number of its first word."""
        for edit, each in self._words.get((kind, layer), ()):
            self.met.add(edit)
            row = edit.query - first
            if each.states is not None and 0 <= row < len(states):
                states[row] = each.states(edit, states[row], self._references[edit])

    def encodings(self, side: str, table: Tensor, start: int, n: int) -> Tensor:
        """Return what words start .. start + n - 1 of a side get from a table [P, D]: [n, D].

        Raises EditError where an edit asks for a position that the table does not have.
        """
        places = self.places(side, torch.arange(start, start + n, device=table.device), len(table))
        return self.scaled(side, table[places])

    def places(self, side: str, places: Tensor, n_positions: int | None = None) -> Tensor:
        """Return positions in place of these [T]. n_positions: how many there are; None: any."""
        for edit, each in self._sides[side]:
            if each.places is not None:
                self.met.add(edit)
                moved = each.places(edit, places)
                wrong = (moved < 0) | (moved >= (n_positions or torch.inf))
                if bool(wrong.any()) and n_positions is not None:
                    word = int(wrong.nonzero()[0])
                    raise EditError(
                        f"{edit}: word {int(places[word])} would stand at position "
                        f"{int(moved[word])}, and this model has positions 0 to {n_positions - 1}."
                    )
                places = moved
        return places

    def scaled(self, side: str, encodings: Tensor) -> Tensor:
        """Encodings or angles [T, n] as edits leave them, wherever they stand."""
        for edit, each in self._sides[side]:
            if each.encodings is not None:
                self.met.add(edit)
                encodings = each.encodings(edit, encodings)
        return encodings

    def turned(self, side: str, steps: Tensor) -> Tensor:
        """Radians by which pairs turn from one position to the next [n]."""
        for edit, each in self._sides[side]:
            if each.frequencies is not None:
                self.met.add(edit)
                steps = each.frequencies(edit, steps)
        return steps


def _rescored(edit: Edit, kind: EditKind, scores: Tensor, first: int) -> Tensor:
    assert kind.scores is not None
    if kind.of == "head":
        return kind.scores(edit, scores, first)
    row = edit.query - first
    if not 0 <= row < len(scores) or (kind.of == "cell" and edit.key >= scores.size(1)):
        return scores  # not written yet
    after = scores.clone()
    after[row] = kind.scores(edit, scores[row : row + 1].clone(), edit.query)[0]
    return after


def softmax(scores: Tensor) -> Tensor:
    """Over keys; a row with every cell masked is 0."""
    return scores.softmax(-1).masked_fill(scores == -torch.inf, 0.0)


# The edits that can change a target: those of rows, and of keys, behind its end cannot.


def within(
    checkpoint: Checkpoint, text: str, target: str | Sequence[Token], edits: Sequence[Edit]
) -> tuple[Edit, ...]:
    """Return the edits of a longer target as they are of this one, which may be a part of it.

    A decoder sees no later word, so what an edit names behind the end changes nothing before it: a
    row or an arrow there is left out, and so are the keys there that a row or a head names. Any
    other edit stays as it is. Raises InputError for a text that cannot be read.
    """
    if not edits or not checkpoint.family.decodes:
        return tuple(edits)
    sources = source_ids(checkpoint, text)
    targets = target_ids(checkpoint, target, len(sources))
    n_rows = len(checkpoint.family.forced_pass(checkpoint.config, sources, targets).inputs[-1])
    return tuple(part for edit in edits for part in _part(edit, n_rows))


def _part(edit: Edit, n_rows: int) -> Iterator[Edit]:
    """The edit, as it is of the first rows of a decoder, or nothing."""
    kind = edit_kinds()[edit.name]
    names = NUMBERS[kind.of] if edit.place in ("decoder_self", "cross") else ()
    if "query" in names and edit.query >= n_rows:
        return
    if edit.place == "decoder_self":  # whose keys are its rows
        if "key" in names and edit.key >= n_rows:
            return
        if kind.further is not None:
            edit = _keys(edit, n_rows)
            if len(edit.values) == len(kind.values):
                return
    yield edit


def _keys(edit: Edit, n_rows: int) -> Edit:
    """The edit without the keys behind the end, which its values name or are a number each for."""
    kind = edit_kinds()[edit.name]
    n = len(kind.values)
    own, keys = edit.values[:n], edit.values[n:]
    is_named = kind.further is not None and kind.further.is_token
    first = tuple(key for key in keys if key < n_rows) if is_named else keys[:n_rows]
    return replace(edit, values=(*own, *first))
