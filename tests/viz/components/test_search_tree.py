"""The tree of a search: how it is laid out, joined to words, folded, and what is left out."""

import csv
import io
import random
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from transformer.decoding.search_tree import Dropped, Node, Score, SearchTree
from transformer.token import Token
from viz.components.kit.browser import unpack
from viz.components.search_tree.search_tree import (
    FOLDED,
    MOST,
    MOST_PIECES,
    entries_of,
    layout,
    name_of,
    pack_tree,
    shared_chain,
)
from viz.pages.decode.hypotheses import search_csv

EVERY = 10_000
IDS, MARKS, NUMBERS = 0, 1, 2


def search(*nodes: tuple[int, str, float, int | None]) -> SearchTree:
    """A search of (parent, piece, log-probability, rank of the hypothesis that ends there)."""
    made = [Node(0, None, None, 0.0, Score(0.0, 0))]
    inner = {parent for parent, *_ in nodes}
    for id, (parent, piece, log_prob, rank) in enumerate(nodes, 1):
        before = made[parent].score
        score = Score(before.log_prob + log_prob, before.length + 1)
        dropped = None if rank is not None or id in inner else Dropped("beam", 0, -1.5)
        token = Token(id, piece, special=piece == "</s>")
        made.append(Node(id, parent, token, log_prob, score, 0, dropped, hypothesis=rank))
    ends = {node.hypothesis: node.id for node in made if node.hypothesis is not None}
    return SearchTree(tuple(made), tuple(ends[rank] for rank in sorted(ends)))


def words() -> SearchTree:
    """Das Parlament (written) and Das Park; Parks and Die were dropped."""
    return search(
        (0, "▁Das", -0.1, None),
        (0, "▁Die", -2.5, None),
        (1, "▁Par", -0.5, None),
        (3, "lament", -0.25, None),
        (3, "k", -1.0, None),
        (5, "s", -4.0, None),
        (4, "</s>", -0.1, 0),
        (5, "</s>", -0.2, 1),
    )


def random_tree(rng: random.Random, n: int) -> list[int]:
    return [-1, *(rng.randrange(max(0, i - 6), i) for i in range(1, n))]


@pytest.mark.parametrize("seed", range(20))
def test_nodes_have_places_of_their_own_and_edges_do_not_cross(seed: int) -> None:
    rng = random.Random(seed)
    parents = random_tree(rng, 60)
    children: dict[int, list[int]] = {}
    for node, parent in list(enumerate(parents))[1:]:
        children.setdefault(parent, []).append(node)
    leaves = frozenset(node for node in range(60) if node not in children and rng.random() < 0.3)
    places = layout(parents, children, leaves)
    assert len(set(places)) == len(places)
    for node, parent in list(enumerate(parents))[1:]:
        assert places[node][0] == places[parent][0] + 1
        assert places[children[parent][0]][1] == places[parent][1]
    for one, other in combinations(range(1, 60), 2):
        (column, row), (column_of_other, row_of_other) = places[one], places[other]
        if column == column_of_other and parents[one] != parents[other]:
            above = places[parents[one]][1] < places[parents[other]][1]
            assert above == (row < row_of_other)
    for leaf in leaves:
        column, row = places[leaf]
        assert not [it for it in places if it[1] == row and it[0] > column]


def test_a_long_chain_is_laid_out_without_recursion() -> None:
    n = 3000
    places = layout([-1, *range(n - 1)], {i: [i + 1] for i in range(n - 1)}, frozenset({n - 1}))
    assert places == [(i, 0) for i in range(n)]


def test_pieces_make_words_and_alternatives_within_a_word_stand_beside_it() -> None:
    entries, n_left_out = entries_of(words(), True, EVERY)
    assert n_left_out == 0
    seen = {
        (entry.token.piece.strip(), entries[entry.parent].node.id, entry.is_living)
        for entry in entries[1:]
        if entry.token
    }
    assert seen == {
        ("▁Das", 0, True),
        ("▁Die", 0, False),
        ("Parlament", 1, True),
        ("Park", 1, True),
        ("Parks", 1, False),
        ("</s>", 4, True),
        ("</s>", 5, True),
    }


@pytest.mark.parametrize("is_joined", [True, False])
def test_log_probabilities_along_a_path_add_up_to_its_score(is_joined: bool) -> None:
    entries, _ = entries_of(words(), is_joined, EVERY)
    for entry in entries:
        total, at = 0.0, entry
        while at.parent >= 0:
            total, at = total + at.log_prob, entries[at.parent]
        assert total == pytest.approx(entry.node.score.log_prob)


def test_a_large_tree_keeps_hypotheses_and_says_how_many_nodes_it_leaves_out() -> None:
    n = 2 * MOST
    nodes: list[tuple[int, str, float, int | None]] = [(0, "▁a", -0.1, None)]
    nodes += [(1, f"▁b{i}", -3.0, None) for i in range(n)]
    nodes += [(1, "</s>", -0.1, 0)]
    header, arrays = unpack(pack_tree(search(*nodes), True))
    assert len(arrays[IDS]) == MOST
    assert header["n_left_out"] == n + 3 - MOST
    assert sum(row[4] == 0 for row in arrays[IDS].tolist()) == 1
    assert (np.diff(arrays[IDS][:, 1]) >= -1).all()
    assert (arrays[IDS][1:, 1] < np.arange(1, MOST)).all(), "parents come first"


def test_what_all_hypotheses_share_is_folded_only_where_it_is_long() -> None:
    def forked(n: int) -> SearchTree:
        chain = [(i, f"▁w{i}", -0.1, None) for i in range(n)]
        return search(*chain, (n, "▁x", -0.1, 0), (n, "▁y", -0.2, 1))

    assert unpack(pack_tree(forked(FOLDED), True))[0]["fold"] == list(range(2, FOLDED))
    assert unpack(pack_tree(forked(FOLDED - 1), True))[0]["fold"] == []
    assert shared_chain([-1, 0, 1, 2], [True] * 4) == [], "of one hypothesis nothing is shared"


def test_the_best_hypothesis_is_a_straight_line_at_the_top() -> None:
    header, (whole, marks, _) = unpack(pack_tree(words(), True))
    at, path = next(i for i, row in enumerate(whole.tolist()) if row[4] == 0), []
    while at >= 0:
        path.append(header["labels"][at][0])
        assert whole[at][3] == 0
        assert marks[at][0] == 1
        at = int(whole[at][1])
    assert path == ["</s>", "Parlament", "Das", ""]


def test_reasons_are_those_of_the_search_and_none_is_given_for_what_lives() -> None:
    header, (whole, marks, _) = unpack(pack_tree(words(), True))
    labels = [label for label, _ in header["labels"]]
    reasons = dict(zip(labels, (header["reasons"][row[6]] for row in whole), strict=True))
    for label, (is_living, _) in zip(labels, marks.tolist(), strict=True):
        assert bool(reasons[label]) == (not is_living), label
    assert "−1.50" in reasons["Die"]


def test_another_search_has_another_name() -> None:
    assert name_of(words()) == name_of(words())
    assert name_of(words()) != name_of(search((0, "▁Das", -0.1, 0)))


def test_one_token_is_shown_as_it_is() -> None:
    hostile = ("<b>x</b>", "\u202eabc", "▁", "שלום")
    made = search(*((0, piece, -1.0, i) for i, piece in enumerate(hostile)))
    labels = [label for label, _ in unpack(pack_tree(made, False))[0]["labels"]]
    assert labels[1] == "<b>x</b>"
    assert "\u202e" not in labels[2]
    assert labels[3:] == ["▁", "שלום"]


def test_a_text_without_spaces_is_no_single_word() -> None:
    n = 5 * MOST_PIECES
    long = search(*((i, "x", -1.0, 0 if i == n - 1 else None) for i in range(n)))
    entries, _ = entries_of(long, words=True, most=EVERY)
    assert max(len(entry.inner) for entry in entries) == MOST_PIECES - 1
    assert sum(1 + len(entry.inner) for entry in entries[1:]) == n


@pytest.mark.parametrize("is_drawn", [False, True])
def test_it_tells_whether_chance_wrote_its_texts(is_drawn: bool) -> None:
    header, _ = unpack(pack_tree(replace(words(), is_drawn=is_drawn), words=True))
    assert header["drawn"] is is_drawn


def test_equal_hypotheses_end_at_one_node_with_all_their_ranks() -> None:
    tree = words()
    first, other = tree.leaves
    drawn = replace(tree, leaves=(first, other, first), is_drawn=True)
    header, (whole, *_) = unpack(pack_tree(drawn, words=True))
    (place,) = (i for i, row in enumerate(whole.tolist()) if row[4] == 0)
    assert header["ranks"] == {str(place): [1, 3]}
    rows = list(csv.DictReader(io.StringIO(search_csv(drawn).decode())))
    assert [row["hypothesis"] for row in rows if row["hypothesis"]] == ["1 3", "2"]
    assert unpack(pack_tree(tree, words=True))[0]["ranks"] == {}


def test_a_path_is_the_models_own_whatever_rules_make_of_its_score() -> None:
    tree = words()
    ruled = [replace(it, score=Score(2 * it.score.log_prob, it.score.length)) for it in tree.nodes]
    _, (whole, _, numbers) = unpack(pack_tree(replace(tree, nodes=tuple(ruled)), words=True))
    ends = {row[4]: numbers[i] for i, row in enumerate(whole.tolist()) if row[4] >= 0}
    own = [float(ends[rank][5]) for rank in (0, 1)]
    assert own == pytest.approx([-0.95, -1.8]) and ends[0][2] == pytest.approx(-1.9)
