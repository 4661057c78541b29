"""Edits at work: what they make of each attention while a model runs."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import torch
from torch import Tensor

from transformer.editing.change import Cells, Change
from transformer.editing.reach import kinds_of
from transformer.edits.edit import Edit, EditError, EditKind
from transformer.edits.spelling import edit_kinds
from transformer.precision import at_least_single
from transformer.recording.calls import AttentionCall

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
