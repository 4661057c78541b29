"""Words of a source that cost no written word anything: neither signs nor what is hidden anyway."""

import torch

from transformer import Token, evidence, load_checkpoint
from transformer.causes.evidence import omissions
from transformer.checkpoint import shipped_path
from transformer.edits import Edit


def tokens(*pieces: str) -> list[Token]:
    words = [Token(i, piece) for i, piece in enumerate(pieces)]
    return [*words, Token(len(words), "</s>", special=True)]


def test_a_word_that_costs_one_written_word_enough_is_none() -> None:
    source = tokens("▁A", "▁cat", "▁sat", "▁,", "▁up")
    hidden = torch.tensor([[0.1, 0.14, -2.0, 0.0, 0.1, 0.0], [0.2, 0.14, 0.0, 0.0, 0.1, 0.0]])
    assert omissions(source, hidden) == (1, 2, 4)
    assert omissions(source, hidden, [Edit("hide", "source", (2,))]) == (1, 4)
    assert omissions(source, hidden + 0.1) == (2,)


def test_ahmed_is_left_out() -> None:
    checkpoint = load_checkpoint(shipped_path("en-de-1"), "cpu")
    result = evidence(checkpoint, "My colleague Ahmed speaks Arabic, French and Turkish.")
    assert [result.source_words[i] for i in result.omissions] == ["Ahmed"]
    assert "Ahmed" not in result.target_words
    alone = load_checkpoint(shipped_path("everyday"), "cpu")
    assert evidence(alone, "She told me that she", "was").omissions == ()
