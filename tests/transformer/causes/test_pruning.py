"""The way of a right word through the search, against the scores of texts that hold it."""

from typing import Any

import pytest

from tests.mistakes.mistakes import CHECKPOINT, RISE
from transformer import Checkpoint, Decoding, decode, load_checkpoint, record
from transformer.analysis.scored import log_probabilities
from transformer.causes.contrast import AnotherWord, another_word, pieces, word_number
from transformer.causes.pruning import DECIDED, Pruning, pruning
from transformer.decoding.search_tree import REASONS, Node, Score, SearchTree
from transformer.token import Token
from transformer.words import words_of

KITCHEN = "My daughter is allergic to nuts, so please make sure that there are none in the cake."
BANK = "He sat on the bank of the river and watched the children who were playing with a red ball."


@pytest.fixture(scope="module")
def checkpoint() -> Checkpoint:
    return load_checkpoint(CHECKPOINT, "cpu")


def way(
    checkpoint: Checkpoint,
    text: str,
    written: str | None,
    other: str,
    method: str = "beam",
    **options: Any,
) -> tuple[Decoding, Pruning, float]:
    """Its way, and the score of it behind what is written, by a forced pass.

    written: None: the first word.
    """
    decoding = decode(checkpoint, text, method, **options)
    written = words_of(decoding.target)[0] if written is None else written
    place = another_word(checkpoint, decoding.target, word_number(decoding.target, written), other)
    scores = pieces(checkpoint, text, place.before, place.other)
    result = pruning(decoding.search, place, scores)
    assert result is not None
    target = [*place.before, *place.other]
    total = float(log_probabilities(record(checkpoint, text, target)).sum())
    return decoding, result, total / ((5 + len(target)) / 6) ** 0.6


def test_jahr_was_finished_as_the_second_best(checkpoint: Checkpoint) -> None:
    decoding, result, _ = way(checkpoint, RISE, "Parlament", "Jahr")
    assert result.hypothesis == 1
    assert result.score == pytest.approx(decoding.hypotheses[1].score)
    assert result.best == pytest.approx(decoding.hypotheses[0].score)


def test_keines_left_the_beam_by_a_hair(checkpoint: Checkpoint) -> None:
    _, result, score = way(checkpoint, KITCHEN, "in", "keines")
    assert (result.hypothesis, result.n_after) == (None, 0)
    assert result.score == pytest.approx(score, abs=1e-4)
    assert result.best is not None and 0 < result.best - result.score < 0.1


def test_ufer_was_not_among_the_candidates(checkpoint: Checkpoint) -> None:
    _, result, score = way(checkpoint, BANK, "Bank", "Ufer")
    assert result.hypothesis is None and not result.why
    assert result.score == pytest.approx(score, abs=1e-4)
    assert result.best is not None and result.best > result.score


def test_a_search_that_wrote_another_text_says_nothing(checkpoint: Checkpoint) -> None:
    target = record(checkpoint, BANK, "Wir saßen auf der Bank.").target
    place = another_word(checkpoint, target, 4, "Ufer")
    scores = pieces(checkpoint, BANK, place.before, place.other)
    assert pruning(decode(checkpoint, BANK, "beam").search, place, scores) is None


def test_the_greedy_text_of_the_nuts_scores_better_and_left_the_beam(
    checkpoint: Checkpoint,
) -> None:
    beam, greedy = decode(checkpoint, KITCHEN, "beam"), decode(checkpoint, KITCHEN)
    score = greedy.log_prob / ((5 + len(greedy.target)) / 6) ** 0.6
    assert score == pytest.approx(-4.98, abs=0.01)
    assert beam.search.leaf(0).score.total == pytest.approx(-5.13, abs=0.01)
    ids = [token.id for token in greedy.target]
    paths = (beam.search.find(ids[:n]) for n in range(1, len(ids)))
    last = [node for node in paths if node is not None][-1]
    assert last.dropped is not None and last.dropped.why == "beam"
    assert last.score.total == pytest.approx(-3.97, abs=0.01)
    assert last.dropped.score == pytest.approx(-3.75, abs=0.01)


def test_no_search_left_a_word_that_a_prefix_decides_against(checkpoint: Checkpoint) -> None:
    _, result, _ = way(checkpoint, RISE, "Banken", "Bank", prefix="Die Banken")
    assert (result.hypothesis, result.best, result.why) == (None, None, DECIDED)
    assert result.why in result.text


@pytest.mark.parametrize("other", ["Das", "Banane"])
def test_chance_leaves_words_for_no_score(checkpoint: Checkpoint, other: str) -> None:
    _, result, _ = way(checkpoint, RISE, None, other, "sample", samples=3, temperature=0.05)
    assert (result.hypothesis, result.best, result.why) == (None, None, REASONS["chance"])


def test_greedy_leaves_a_word_for_the_one_that_it_writes(checkpoint: Checkpoint) -> None:
    decoding, result, _ = way(checkpoint, RISE, None, "Banane", "greedy")
    written = decoding.search.children(0)
    assert result.best in [node.score.total for node in written if node.dropped is None]
    assert result.best is not None and result.best > result.score


def test_no_word_is_beaten_by_a_lower_score(checkpoint: Checkpoint) -> None:
    asked: list[tuple[str, dict[str, Any]]] = [("beam", {"force": ["Jahrzehnt"]}), ("diverse", {})]
    for method, options in asked:
        for other in ("Zentralbank", "Zinsen", "Ufer"):
            result = way(checkpoint, RISE, None, other, method, **options)[1]
            assert result.hypothesis is not None or (result.best or 0.0) >= result.score


def test_a_word_is_followed_through_a_very_long_text() -> None:
    n = 3000
    nodes = [Node(0, None, None, 0.0, Score(0.0, 0))]
    nodes += [Node(i, i - 1, Token(i, "x"), -1.0, Score(-float(i), i)) for i in range(1, n)]
    tree = SearchTree(tuple(nodes), (n - 1,))
    place = AnotherWord(0, (), (Token(5, "y"),), (Token(1, "x"),))
    result = pruning(tree, place, ())
    assert result is not None and result.n_after == n - 2
