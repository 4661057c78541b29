"""The search of a decoding as a tree, above the player of its steps."""

from typing import Any

from transformer.decoding.search_tree import Node, SearchTree
from viz.components.search_tree.search_tree import DecodeTree, name_of
from viz.exhibits.exhibit import Actions, Exhibit, PictureAt
from viz.export import rows_csv
from viz.state.branching import go_on_from, pin_hypothesis
from viz.state.focus import pin_step
from viz.state.page import Pane
from viz.state.requests import searched


def has_tree(search: SearchTree) -> bool:
    """Tell whether a search ended with more than one hypothesis: its tree has branches."""
    return len(set(search.leaves)) > 1


def tree_exhibit(pane: Pane, step: int) -> Exhibit:
    """The tree of the search; step: the one of what is shown that is chosen."""
    of, search = searched(pane), search_of(pane)
    last = search.find([token.id for token in pane.recording.target])
    path = search.path(last.id) if last else ()
    state = {
        "node": path[step].id if 0 <= step < len(path) else None,
        "end": last.id if last else None,
    }
    on: Actions = {
        "node": lambda news: _choose(pane, search, *news),
        "branch": lambda news: _go_on(search, *news),
    }
    tree = DecodeTree(pane.reading.words)
    typed = None if pane.answer.request.branch else tree
    content = PictureAt(tree, of_text=state, typed=typed, on=on, key="search-tree")
    return Exhibit("The search as a tree", content, pane=of)


def search_of(pane: Pane) -> SearchTree:
    """The search behind what is shown. Only of a model that writes."""
    decoding = searched(pane).answer.decoding
    assert decoding is not None
    return decoding.search


def _choose(pane: Pane, search: SearchTree, name: str, id: int) -> None:
    """Show the hypothesis of a node at its step, unless the search is another one by now.

    Of several that lead through it the best one; of a node that was dropped, the path up to it.
    """
    if name != name_of(search):
        return
    step, ids = search.depth(id) - 1, search.ids(id)
    if step < 0:
        return
    if ids == tuple(token.id for token in pane.recording.target)[: len(ids)]:
        pin_step(pane, step)
        return
    through = (end for end in search.leaves if search.ids(end)[: len(ids)] == ids)
    best = next(through, id)
    pin_hypothesis(pane, () if best == search.leaves[0] else search.ids(best), step)


def _go_on(search: SearchTree, name: str, id: int) -> None:
    """Decode from a node on, unless the search is another one by now."""
    if name == name_of(search) and id:
        go_on_from(search.ids(id))


def search_csv(search: SearchTree) -> bytes:
    """Every node of a search, a line each, parents first; log-probabilities are in nats.

    log_prob is that of the token alone, given its path, and path_log_prob that of the path with it,
    as the model has it; score_log_prob, which is after the rules that a folder has for writing,
    length_divisor and coverage are the parts of its score. hypothesis: the ranks of all that end
    there, from 1, as the tree names them. The root, which is no token, is left out.
    """
    return rows_csv([_row(search, node) for node in search.nodes[1:]])


def _row(search: SearchTree, node: Node) -> dict[str, Any]:
    assert node.token is not None
    score, dropped = node.score, node.dropped
    return {
        "node": node.id,
        "parent": node.parent,
        "step": search.depth(node.id) - 1,
        "id": node.token.id,
        "piece": node.token.piece,
        "log_prob": f"{node.log_prob:.9g}",
        "path_log_prob": f"{search.path_log_probs[node.id]:.9g}",
        "score": f"{score.total:.9g}",
        "score_log_prob": f"{score.log_prob:.9g}",
        "length": score.length,
        "length_divisor": f"{score.divisor:.9g}",
        "coverage": f"{score.coverage:.9g}",
        "rank": node.rank,
        "hypothesis": " ".join(str(rank + 1) for rank in search.ranks(node.id)),
        "living": int(node.id in search.living),
        "forced": int(node.is_forced),
        "dropped": "" if dropped is None else dropped.why,
        "dropped_by": "" if dropped is None or dropped.by is None else dropped.by,
    }
