"""The course of a search: what it is bound to, and the trail that it leaves."""

from collections.abc import Callable, Collection, Container, Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor

from transformer.decoding.constraints import Bars, Constraints
from transformer.decoding.method import Hypothesis, Model, Rules
from transformer.decoding.phrases import Phrases
from transformer.decoding.search_tree import LEFT, MOST_NODES, Dropped, Node, Score, SearchTree, Why
from transformer.finite import log_probabilities
from transformer.inputs import InputError
from transformer.token import Token

# The trail of a search: what it looks at, written down on the way in plain numbers.


@dataclass(slots=True)
class _Entry:
    parent: int
    token: int
    log_prob: float
    total: float
    """Sum of what is ranked by along the path."""
    length: int
    divisor: float
    rank: int
    is_forced: bool
    why: Why | None = None
    by: int | None = None
    coverage: float = 0.0

    @property
    def score(self) -> Score:
        return Score(self.total, self.length, self.divisor, self.coverage)


class Trail:
    """Entries in the order in which a search looked at them; 0 is the root."""

    def __init__(self) -> None:
        self._entries = [_Entry(-1, -1, 0.0, 0.0, 0, 1.0, 0, False)]
        self._at: dict[tuple[int, int], int] = {}

    def add(
        self,
        parent: int,
        token: int,
        log_prob: float,
        total: float | None = None,
        divisor: float = 1.0,
        rank: int = 0,
        is_forced: bool = False,
    ) -> int:
        """Write down a token after `parent`, and return its id. total: None: the sum of log_prob.

        The same token after the same parent is one node, and no longer a dropped one.
        """
        at = self._at.get((parent, token))
        if at is not None:
            self._entries[at].why = None
            return at
        before = self._entries[parent]
        whole = before.total + log_prob if total is None else total
        length = before.length + 1
        entry = _Entry(parent, token, log_prob, whole, length, divisor, rank, is_forced)
        self._at[parent, token] = len(self._entries)
        self._entries.append(entry)
        return len(self._entries) - 1

    def __contains__(self, place: tuple[int, int]) -> bool:
        """Tell whether a token (its id) was looked at after a parent."""
        return place in self._at

    def drop(self, id: int, why: Why, by: int | None = None) -> None:
        """Say why nothing is written after a node; by: the node that beat it."""
        self._entries[id].why, self._entries[id].by = why, by

    def force(self, leaf: int, places: Container[int]) -> None:
        """Mark the tokens at these places of the text that ends at a node: forced words."""
        while leaf:
            entry = self._entries[leaf]
            entry.is_forced = entry.is_forced or entry.length - 1 in places
            leaf = entry.parent

    def cover(self, id: int, coverage: float) -> None:
        """Give a node its coverage penalty."""
        self._entries[id].coverage = coverage

    def tree(
        self,
        token: Callable[[int], Token],
        leaves: Sequence[int],
        longest: int | None = None,
    ) -> SearchTree:
        """The tree of all that was looked at; leaves: where each hypothesis ends, best first.

        longest: nodes of longer texts are left out, as if the search had ended before them.
        """
        ends = {id: rank for rank, id in reversed(list(enumerate(leaves)))}
        stay = self._lasting(ends)
        if longest is not None:
            stay = [id for id in stay if self._entries[id].length <= longest]
        ids = {old: new for new, old in enumerate(stay)}
        revived = self._revived(ends)
        nodes = tuple(self._node(old, ids, token, ends.get(old), old in revived) for old in stay)
        n_left_out = 0 if longest is not None else len(self._entries) - len(stay)
        is_drawn = any(entry.why == "chance" for entry in self._entries)
        return SearchTree(nodes, tuple(ids[each] for each in leaves), n_left_out, is_drawn)

    def _revived(self, ends: Container[int]) -> set[int]:
        """The nodes that were left, but another beam went on from them, or a text ends there.

        Nothing is changed: the search may still be on its way.
        """
        revived: set[int] = set()
        for id in range(len(self._entries) - 1, 0, -1):
            entry = self._entries[id]
            if id in ends:
                revived.add(id)
            is_left = id not in revived and entry.why in LEFT
            if not is_left and self._entries[entry.parent].why == "continuations":
                revived.add(entry.parent)
        return revived

    def _lasting(self, ends: dict[int, int]) -> Sequence[int]:
        """The entries that a tree takes: all, or of too many those that matter most."""
        if len(self._entries) <= MOST_NODES:
            return range(len(self._entries))
        living = {0}
        for end in ends:
            while end not in living:
                living.add(end)
                end = self._entries[end].parent
        # A parent that was gone on from stays, so that its children hang together.
        parents = {each.parent for each in self._entries[1:]} | living
        others = [id for id in range(1, len(self._entries)) if id not in parents]
        others.sort(key=lambda id: self._entries[id].rank)
        room = max(0, MOST_NODES - len(parents - {-1}))
        return sorted((parents - {-1}) | set(others[:room]))

    def _node(
        self,
        id: int,
        ids: dict[int, int],
        token: Callable[[int], Token],
        rank: int | None,
        is_revived: bool,
    ) -> Node:
        entry = self._entries[id]
        if id == 0:
            return Node(0, None, None, 0.0, entry.score, hypothesis=rank)
        dropped = None
        if entry.why is not None and not is_revived:
            by = None if entry.by is None else ids.get(entry.by)
            # It was beaten before anything was known of its coverage.
            score = None if entry.by is None else self._entries[entry.by].score.before_coverage
            dropped = Dropped(entry.why, by, score)
        return Node(
            id=ids[id],
            parent=ids[entry.parent],
            token=token(entry.token),
            log_prob=entry.log_prob,
            score=entry.score,
            rank=entry.rank,
            dropped=dropped,
            is_forced=entry.is_forced,
            hypothesis=rank,
        )


# The course of a search: what it is bound to, and the trail that it leaves.

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
            for own in self.phrases.spellings:
                n = len(own.ids)
                starts = (at for at in range(len(each.ids)) if each.ids[at : at + n] == own.ids)
                for at in starts:
                    if self.phrases.may_begin(each.ids[at - 1] if at else None, own):
                        places.update(range(at, at + n))
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
