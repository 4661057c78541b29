"""The course of a search: what it is bound to, and the trail that it leaves."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor

from transformer.decoding.constraints import Bars, Constraints
from transformer.decoding.method import Hypothesis, Model, Rules
from transformer.decoding.phrases import Phrases
from transformer.decoding.search_tree import Why
from transformer.decoding.trail import Trail
from transformer.finite import log_probabilities
from transformer.inputs import InputError

FREE, NO_PHRASES = Constraints(), Phrases()
N_BESIDE = 3
"""The most probable tokens of a step that a search of one hypothesis notes beside its own."""


@dataclass(frozen=True)
class Course:
    """The constraints and the trail of a search, beside the numbers of its method."""

    constraints: Constraints = FREE
    bars: Bars = field(default_factory=lambda: Bars(()))
    """The forbidden phrases."""
    phrases: Phrases = NO_PHRASES
    """The forced ones."""
    trail: Trail = field(default_factory=Trail)

    def first(self, model: Model, source: Tensor) -> Tensor:
        """The tokens that a search reads first: source [1, S] -> [1, T], the prefix last."""
        prefix = source.new_tensor([self.constraints.prefix], dtype=source.dtype)
        return torch.cat([model.first(source), prefix], dim=1)

    def begin(self, logits: Tensor) -> tuple[tuple[Tensor, ...], tuple[int, ...]]:
        """Write the prefix down. logits: [1, T, V] of `first`.

        Returns the distribution [V] at each of its tokens, as log-probabilities, and the
        id of the node of each.
        """
        prefix = self.constraints.prefix
        n = len(prefix)
        rows = log_probabilities(logits[0, -n - 1 : -1]) if n else logits.new_empty(0, 1)
        nodes: list[int] = []
        for row, id in zip(rows, prefix, strict=True):
            parent = nodes[-1] if nodes else 0
            nodes.append(self.trail.add(parent, id, float(row[id]), is_forced=True))
        return tuple(rows), tuple(nodes)

    def ruled_prefix(self, rules: Rules | None, rows: Sequence[Tensor]) -> tuple[Tensor, ...]:
        """The prefix's distributions [V] after the rules of its folder; empty: it has none.

        rows: what the rules are of, logits or log-probabilities.
        """
        if rules is None or not rows:
            return ()
        prefix = self.constraints.prefix
        written = (rows[0].new_tensor([prefix[:n]]).long().view(1, -1) for n in range(len(prefix)))
        return tuple(
            rules(ids, row[None])[0].log_softmax(-1) for ids, row in zip(written, rows, strict=True)
        )

    def mark_forced(self, hypotheses: Sequence[Hypothesis]) -> None:
        """Mark, in the trail, the tokens of forced phrases in what was written."""
        for each in hypotheses if self.phrases else ():
            places: set[int] = set()
            for phrase in self.phrases.ids:
                n = len(phrase)
                starts = (at for at in range(len(each.ids)) if each.ids[at : at + n] == phrase)
                places.update(*(range(at, at + n) for at in starts))
            self.trail.force(each.leaf or 0, places)

    def check_room(self, limit: int, ends: Collection[int]) -> None:
        """Raise InputError where the prefix leaves no room for a token within the limit.

        ends: ids that end a text: after them no room is needed.
        """
        prefix = self.constraints.prefix
        if len(prefix) >= limit + (bool(prefix) and prefix[-1] in ends):
            raise InputError(
                f"The prefix has {len(self.constraints.prefix)} tokens, and at most {limit} are "
                "written: shorten it, or allow a longer text."
            )


def masked(row: Tensor, barred: Sequence[int] | set[int]) -> Tensor:
    """Log-probabilities [V] with minus infinity where a token may not come; the others as before.

    Raises InputError where none is left.
    """
    if not barred:
        return row
    row = row.clone()
    row[list(barred)] = -torch.inf
    if not bool((row > -torch.inf).any()):
        raise InputError("What is forbidden leaves no token that may come next: forbid less.")
    return row


def note_step(
    trail: Trail,
    parent: int,
    own: Tensor,
    chosen: int,
    why: Callable[[int], Why],
    is_forced: bool = False,
) -> int:
    """Write down a step of a search of one hypothesis: its token, and the best beside it.

    own: the model's log-probabilities [V]; why: of a token id, the reason why it was not written.
    Returns the id of the token's node.
    """
    best = own.topk(min(N_BESIDE + 1, own.numel()))
    ids, values = best.indices.tolist(), best.values.tolist()
    ranks = {id: rank for rank, id in enumerate(ids)}
    rank = ranks[chosen] if chosen in ranks else int((own > own[chosen]).sum())
    node = trail.add(parent, chosen, float(own[chosen]), rank=rank, is_forced=is_forced)
    for id, value in zip(ids, values, strict=True):
        if id != chosen and (parent, id) not in trail and value > -torch.inf:
            beside = trail.add(parent, id, value, rank=ranks[id])
            trail.drop(beside, why(id), node)
    return node
