"""A search that no model made: as large as one asks, and the same each time."""

import random
from collections.abc import Sequence

from transformer.decoding.search_tree import MOST_NODES, Dropped, Node, Score, SearchTree
from transformer.token import Token


def random_search(
    n_steps: int,
    beam_size: int,
    n_shared: int = 0,
    pieces: Sequence[str] = (),
    seed: str = "",
) -> SearchTree:
    """A beam search of so many steps: at each, two candidates for each hypothesis that is followed.

    n_shared: steps at the beginning that all hypotheses share. pieces: those of the tokens, as far
    as they go; others are words with a number. seed: of its probabilities; with another one, the
    ids of the tokens are others, as those of another text are.
    """
    rng = random.Random(seed)
    first_id = sum(map(ord, seed)) * MOST_NODES
    nodes = [Node(0, None, None, 0.0, Score(0.0, 0))]
    kept = [0]

    def add(parent: int, dropped: Dropped | None, rank: int, hypothesis: int | None = None) -> int:
        id, before, log_prob = len(nodes), nodes[parent].score, -rng.random() - rank
        piece = pieces[id - 1] if id <= len(pieces) else f"▁w{id}"
        score = Score(before.log_prob + log_prob, before.length + 1)
        token = Token(first_id + id, piece)
        nodes.append(Node(id, parent, token, log_prob, score, rank, dropped, hypothesis=hypothesis))
        return id

    for step in range(n_steps):
        following = []
        n_kept = 1 if step < n_shared else beam_size
        is_last = step == n_steps - 1
        for rank in range(2 * beam_size):
            parent, is_kept = kept[rank % len(kept)], rank < n_kept
            dropped = None if is_kept else Dropped("beam", following[-1], -1.25)
            id = add(parent, dropped, rank, rank if is_last and is_kept else None)
            if is_kept:
                following.append(id)
        kept = following
    return SearchTree(tuple(nodes), tuple(kept))
