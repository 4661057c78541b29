"""The trail of a search: what it looks at, written down on the way in plain numbers."""

from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass

from transformer.decoding.search_tree import LEFT, MOST_NODES, Dropped, Node, Score, SearchTree, Why
from transformer.token import Token


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
