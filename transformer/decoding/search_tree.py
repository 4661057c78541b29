"""The search as a value: every node that a decoding looked at, and why it was left."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from transformer.field_docs import fields_in_help
from transformer.in_a_line import in_a_line
from transformer.inputs import Wanted, all_whole, checks, is_whole
from transformer.refusal import Refusal, quoted
from transformer.token import Token

Why = Literal[
    "beam",
    "continuations",
    "finished",
    "stopped",
    "barred",
    "forbidden",
    "greedy",
    "chance",
    "forced",
    "bank",
    "group",
    "end",
    "rules",
]
LEFT = frozenset(
    ("beam", "barred", "forbidden", "greedy", "chance", "forced", "bank", "group", "end", "rules")
)
"""Reasons for which a node was left at its own step, so that nothing stands after it."""
REASONS: dict[Why, str] = {
    "beam": "others scored better at this step",
    "continuations": "none of its continuations was among the best",
    "finished": "others that ended score better",
    "stopped": "the search ended while it was open",
    "barred": "it would repeat what was just written",
    "forbidden": "it was forbidden",
    "greedy": "another token was more probable",
    "chance": "another token was drawn",
    "forced": "another token was given",
    "bank": "its place was kept for texts with another number of forced tokens",
    "group": "another group of beams had just written it",
    "end": "it ends the text, which only the best of a step may",
    "rules": "the rules that its folder has for writing make another token more probable",
}
BEATEN = " (the last of them {score})"
"""The rest of a reason where others beat the node: the score of the worst of these."""
MOST_NODES = 20_000
"""Nodes that a tree keeps, and all that others stand after; of more, the last in rank go first."""


@fields_in_help
@dataclass(frozen=True)
class Score:
    """The number that hypotheses are ranked by, in parts."""

    log_prob: float
    """Sum along the path, in nats, of what is ranked by: after the rules that its folder has for
    writing, if any. A prefix and forced tokens count at their true price."""
    length: int
    """Tokens written so far."""
    divisor: float = 1.0
    """The length penalty, a power of the length: see `beam`."""
    coverage: float = 0.0
    """The coverage penalty, at most 0: see `coverage`."""

    @property
    def before_coverage(self) -> float:
        return self.log_prob / self.divisor

    @property
    def total(self) -> float:
        return self.before_coverage + self.coverage


@fields_in_help
@dataclass(frozen=True)
class Dropped:
    """The reason why nothing was written after a node."""

    why: Why
    """The reason, a key of REASONS."""
    by: int | None = None
    """The id of the node that beat it: of those kept in its place, the worst."""
    score: float | None = None
    """The score of that node, as it was then: before a coverage penalty."""

    def __str__(self) -> str:
        beaten = "" if self.score is None else BEATEN.format(score=f"{self.score:.2f}")
        return REASONS[self.why] + beaten


@fields_in_help
@dataclass(frozen=True)
@in_a_line
class Node:
    """One token that the search looked at, after the path that leads to it."""

    id: int
    """Its place in `SearchTree.nodes`; parents come before their children."""
    parent: int | None
    """The id of the node before it; None for the root."""
    token: Token | None
    """None for the root."""
    log_prob: float
    """log p(token | path, source), in nats; 0 for the root."""
    score: Score
    """The score of the path up to it."""
    rank: int = 0
    """Its place among all candidates of its step, 0 the best."""
    dropped: Dropped | None = None
    """None: the search went on from here, or ended here with one of its hypotheses."""
    is_forced: bool = False
    """A prefix or a forced word wrote it."""
    hypothesis: int | None = None
    """The rank of the hypothesis that ends here, the first of equal ones."""


class NoSuchNode(Refusal, IndexError):
    """A node or a hypothesis that a search does not have; the message says how many it has."""


@fields_in_help
@dataclass(frozen=True, eq=False)
@in_a_line
class SearchTree:
    """All nodes of a search, the root first."""

    nodes: tuple[Node, ...]
    """All that are kept, the root first, parents before their children."""
    leaves: tuple[int, ...]
    """The node at which each hypothesis ends, by rank; equal ones end at one."""
    n_left_out: int = 0
    """Dropped nodes that are not kept, of a very large search."""
    is_drawn: bool = False
    """True: chance chose the tokens; hypotheses stand in the order of their seeds, not by score."""

    def path(self, id: int) -> tuple[Node, ...]:
        """The nodes from the first token to this one. Raises NoSuchNode, as all that take an id."""
        path, node = [], self._node(id)
        while node.parent is not None:
            path.append(node)
            node = self.nodes[node.parent]
        return tuple(reversed(path))

    def ids(self, id: int) -> tuple[int, ...]:
        """The ids of the tokens along the path."""
        return tuple(node.token.id for node in self.path(id) if node.token is not None)

    @cached_property
    def path_log_probs(self) -> tuple[float, ...]:
        """The model's own log-probability of the path up to each node, in nats: before any rules
        that its folder has for writing, which `Score.log_prob` is after.
        """
        sums = [0.0]
        for node in self.nodes[1:]:
            sums.append(sums[node.parent or 0] + node.log_prob)
        return tuple(sums)

    def ranks(self, id: int) -> tuple[int, ...]:
        """The ranks of all hypotheses that end here: samples may be equal."""
        node = self._node(id)
        return tuple(rank for rank, end in enumerate(self.leaves) if end == node.id)

    def depth(self, id: int) -> int:
        """Tokens from the root."""
        return self._node(id).score.length

    @cached_property
    def _children(self) -> dict[int, tuple[int, ...]]:
        children: dict[int, list[int]] = {}
        for node in self.nodes[1:]:
            children.setdefault(node.parent or 0, []).append(node.id)
        return {parent: tuple(ids) for parent, ids in children.items()}

    def children(self, id: int) -> tuple[Node, ...]:
        """The nodes right after this one, in the order of their ids."""
        return tuple(self.nodes[each] for each in self._children.get(self._node(id).id, ()))

    @cached_property
    def living(self) -> frozenset[int]:
        """The ids of all nodes that lie on the path of a hypothesis; the root is one."""
        paths = ({each.id for each in self.path(end)} for end in self.leaves)
        return frozenset({0}.union(*paths))

    def leaf(self, rank: int) -> Node:
        """The node at which the hypothesis of this rank ends. Raises NoSuchNode."""
        if not is_whole(rank) or not 0 <= rank < len(self.leaves):
            n = len(self.leaves)
            raise NoSuchNode(f"There is no hypothesis {quoted(rank)}: {n:,}, counted from 0.")
        return self.nodes[self.leaves[rank]]

    def _node(self, id: int) -> Node:
        if not is_whole(id) or not 0 <= id < len(self.nodes):
            raise NoSuchNode(f"There is no node {quoted(id)}: {len(self.nodes):,}, counted from 0.")
        return self.nodes[id]

    def rows(self) -> list[dict[str, object]]:
        """A row a node, as JSON and CSV have them."""
        return [
            {
                "id": node.id,
                "parent": node.parent,
                "token": None if node.token is None else node.token.id,
                "piece": None if node.token is None else node.token.piece,
                "log_prob": node.log_prob,
                "path": self.path_log_probs[node.id],
                "sum": node.score.log_prob,
                "length": node.score.length,
                "divisor": node.score.divisor,
                "coverage": node.score.coverage,
                "score": node.score.total,
                "rank": node.rank,
                "forced": node.is_forced,
                "hypothesis": node.hypothesis,
                "dropped": None if node.dropped is None else node.dropped.why,
                "beaten_by": None if node.dropped is None else node.dropped.by,
            }
            for node in self.nodes
        ]

    @checks(ids=Wanted(all_whole, "a list of token ids"))
    def find(self, ids: Sequence[int]) -> Node | None:
        """The node that these token ids lead to; None: the search did not look at it."""
        node = self.nodes[0]
        for id in ids:
            after = (each for each in self.children(node.id) if each.token and each.token.id == id)
            following = next(after, None)
            if following is None:
                return None
            node = following
        return node
