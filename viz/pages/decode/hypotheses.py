"""The search of a decoding: as a tree, its finished hypotheses, and the text it wrote."""

from functools import partial
from typing import Any

from transformer import Decoding, Recording
from transformer.analysis.scored import word_log_probabilities
from transformer.decoding.reranking import Base, by_gnmt, by_length
from transformer.decoding.search_tree import Node, SearchTree
from viz.components.search_tree.search_tree import DecodeTree, name_of
from viz.exhibits.exhibit import Actions, Exhibit, Line, PictureAt, Span, Words
from viz.export import rows_csv
from viz.figures import decoding as hypotheses
from viz.figures.decoding import (
    DRAWN,
    IN_ORDER,
    NAME,
    ONLY_RANKED_AGAIN,
    Ranked,
    chart_penalty_curves,
    first_of_all,
)
from viz.labels import number
from viz.state.branching import go_on_from, pin_hypothesis
from viz.state.focus import pin_step
from viz.state.page import Pane
from viz.state.requests import method_of, searched
from viz.ui.changed_output import probable_words
from viz.ui.parts import Part, Rows, folded

# All finished hypotheses on Decode: the parts of their scores, and the penalties of ties.

HELP = (
    "All texts that the search finished: their log-probabilities, lengths and scores, and the "
    "length penalties at which another one would be first."
)
PENALTY, PLAIN, CURVES = "length_penalty", "plain_length", "Scores over the length penalty"
FOOT = (
    "The score is the log-probability of all tokens, the end included, divided by the divisor, "
    "which is a power of the length."
)
WITH_COVERAGE = (
    "Added to it is the coverage penalty, which is low where a source word was read too little."
)
BY_LOST = "The fewest lost words come first, whatever the score."
WITHOUT = "The score is the log-probability of all tokens, the end included."
DRAWN_FOOT = f"{WITHOUT} Chance wrote these texts: they are {IN_ORDER}, and none of them has won."
DRAWN_HELP = "All texts that were drawn: their log-probabilities and lengths."


def _hypotheses(pane: Pane) -> dict[str, Exhibit]:
    """The table and the curves, of the search itself where a branch of it is shown."""
    pane = searched(pane)
    decoding = decoding_of(pane)
    ranked, penalty = _ranked(pane), _penalty(pane)
    foot, curves = _foot(ranked, penalty), {}
    is_by_score = all(each.n_lost is None for each in ranked)
    if penalty is not None and len(ranked) > 1 and is_by_score:
        has_plain = dict(pane.answer.request.options).get(PLAIN)
        base: Base = by_length if has_plain else by_gnmt  # whose power the divisor is
        says = f"{first_of_all(ranked, base)} {ONLY_RANKED_AGAIN}"
        chart = chart_penalty_curves(ranked, penalty, base)
        curves = {"penalties": Exhibit(CURVES, chart, says, is_main=False, pane=pane)}
        foot = f"{foot} By the length penalty: {says}"
    is_drawn = decoding.search.is_drawn
    content = hypotheses.table(ranked, DRAWN_FOOT if is_drawn else foot, is_drawn)
    says = hypotheses.says(ranked, is_drawn)
    table = Exhibit(content.name, content, says, is_main=False, pane=pane)
    return {"hypotheses": table} | curves


def hypotheses_rows(pane: Pane) -> list[dict[str, Any]]:
    """A row for each finished hypothesis, by rank; of texts that were drawn, by seed.

    pane: of the search itself.
    """
    decoding = decoding_of(pane)
    place = "draw" if decoding.search.is_drawn else "rank"
    ranked = _ranked(pane)
    return [{place: number} | vars(each) for number, each in enumerate(ranked, 1)]


def _rows(pane: Pane) -> dict[str, Rows]:
    file, help = "headscope-n-best.csv", "Every finished text with its score in parts, one row each"
    make = partial(hypotheses_rows, searched(pane))
    return {"hypotheses": Rows("Hypotheses as CSV", file, help, make)}


def decoding_of(pane: Pane) -> Decoding:
    """Only of a model that writes."""
    assert pane.answer.decoding is not None
    return pane.answer.decoding


def _ends(is_drawn: bool, pane: Pane) -> bool:
    """Tell whether a search of this sort ended with hypotheses. is_drawn: chance chose them."""
    decoding = searched(pane).answer.decoding
    if decoding is None or not decoding.hypotheses:
        return False
    return decoding.search.is_drawn == is_drawn


def _ranked(pane: Pane) -> list[Ranked]:
    decoding = decoding_of(pane)
    ranked = []
    for rank, each in enumerate(decoding.hypotheses):
        score = decoding.search.leaf(rank).score
        parts = each.log_prob, score.log_prob, score.length, score.divisor, score.coverage
        ranked.append(Ranked(each.text, *parts, each.score, each.n_lost))
    return ranked


def _penalty(pane: Pane) -> float | None:
    """The length penalty in use; None: the method has none."""
    request = pane.answer.request
    options = method_of(request).options
    usual = next((each.default for each in options if each.name == PENALTY), None)
    return None if usual is None else float(dict(request.options).get(PENALTY, usual))


def _foot(ranked: list[Ranked], penalty: float | None) -> str:
    if penalty is None:
        return WITHOUT
    more = [WITH_COVERAGE] * any(each.coverage for each in ranked)
    more += [BY_LOST] * any(each.n_lost is not None for each in ranked)
    return " ".join((FOOT, *more))


HYPOTHESES = tuple(
    folded(Part(title, _hypotheses, rows=_rows), "hypotheses", help, partial(_ends, is_drawn))
    for title, help, is_drawn in ((NAME, HELP, False), (DRAWN, DRAWN_HELP, True))
)


# The search of a decoding as a tree, above the player of its steps.


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
    return decoding_of(searched(pane)).search


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


# The whole text that a model wrote, with the probability of each word.


def written(recording: Recording) -> Exhibit:
    """The words of the target, each with the model's own probability of it."""
    spans, total = probable_words(recording), sum(word_log_probabilities(recording))
    foot = [
        Span("Below each word: its probability, given all before it; in all a log-probability of"),
        Span(number(total), value=total, measure="log-probability, in nats"),
        Span("nats."),
    ]
    return Exhibit("Text with the probability of each word", Words([Line(spans)], foot))
