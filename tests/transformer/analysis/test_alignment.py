"""Alignment error rates and links, against what was worked out by hand."""

import pytest
import torch

from transformer.analysis.alignment import (
    AlignedPair,
    diagonal,
    error_rate,
    links_of,
    words_of_pieces,
)
from transformer.token import Token
from transformer.tokenizer import SentencePieceTokenizer
from transformer.training.evaluation.heads import aligned


def pair(n_source: int, n_target: int, sure: str, possible: str = "") -> AlignedPair:
    sides = ("s", ["s"] * n_source), ("t", ["t"] * n_target)
    return aligned(*sides, *([(int(l[0]), int(l[2])) for l in x.split()] for x in (sure, possible)))


def test_the_published_example() -> None:
    """lilt/alignment-scripts, aer.py: reference 1-1 2-2 3p3, hypothesis 1-1 2-3 3-3."""
    gold = pair(4, 4, "1-1 2-2", "3-3")
    assert error_rate([{(1, 1), (2, 3), (3, 3)}], [gold]) == pytest.approx(40.0)


def test_error_rates_are_of_all_pairs_together() -> None:
    gold = [pair(2, 2, "0-0 1-1"), pair(3, 3, "0-0")]
    assert error_rate([{(0, 0), (1, 1)}, {(0, 0)}], gold) == 0
    # 3 right of 2 + 2 found and sure, then 0 of 1 + 1: 1 - (1 + 1 + 0) / (2 + 2 + 1 + 1)
    assert error_rate([{(0, 0), (1, 0)}, {(1, 1)}], gold) == pytest.approx(100 * (1 - 2 / 6))
    assert error_rate([set(), set()], gold) == 100


def test_a_possible_link_costs_nothing_and_is_not_asked_for() -> None:
    gold = [pair(2, 2, "0-0", "1-1")]
    assert error_rate([{(0, 0)}], gold) == error_rate([{(0, 0), (1, 1)}], gold) == 0


def test_the_diagonal() -> None:
    assert diagonal(pair(3, 3, "0-0")) == {(0, 0), (1, 1), (2, 2)}
    assert diagonal(pair(2, 4, "0-0")) == {(0, 0), (0, 1), (1, 2), (1, 3)}
    assert diagonal(pair(5, 1, "0-0")) == {(2, 0)}


def test_pieces_are_summed_over_source_words_and_averaged_over_target_words() -> None:
    # Columns: word 0 of two pieces, word 1, </s>. Rows: word 0, word 1 of two pieces, </s>.
    columns, rows = [0, 0, 1, None], [0, 1, 1, None]
    head = torch.tensor([[0.3, 0.3, 0.4, 0], [0.6, 0, 0.4, 0], [0, 0, 0.9, 0.1], [0, 0, 1, 0]])
    sink = torch.tensor([[0.1, 0.1, 0.3, 0.5]]).repeat(4, 1)
    assert links_of(torch.stack([head, sink]), rows, columns) == [{(0, 0), (1, 1)}, set()]


def test_pieces_belong_to_the_word_of_their_first_character() -> None:
    pieces = ["▁The", "▁c", "at", "▁", "sat", "."]
    tokens = [Token(9, p) for p in pieces] + [Token(2, "</s>", special=True)]
    words = ["The", "cat", "sat", "."]
    assert words_of_pieces(tokens, words) == [0, 1, 1, 2, 2, 3, None]
    assert words_of_pieces(tokens, ["The", "catsat", "."]) == [0, 1, 1, 1, 1, 2, None]
    for wrong in (["The", "cat", "sat"], ["The", "cat", "sat", ".", "\u200b"], ["x", "."]):
        with pytest.raises(ValueError, match="the pieces do not spell the words"):
            words_of_pieces(tokens, wrong)


@pytest.mark.parametrize("text", ["the cat sees ½ … 10 km² of „sea“ – ok", "naïve 日本 the sea"])
def test_real_pieces_spell_their_words(text_tokenizer: SentencePieceTokenizer, text: str) -> None:
    tokens = [text_tokenizer.token(id) for id in text_tokenizer.encode(text)]
    words = text.split()
    found = words_of_pieces(tokens, words)
    assert found[-1] is None
    assert sorted(set(found[:-1])) == list(range(len(words)))
    assert found[:-1] == sorted(found[:-1])
