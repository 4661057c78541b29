"""What the decode player is told."""

from dataclasses import replace
from math import log

import numpy as np
import pytest
import torch

from transformer import decode, load_checkpoint, record
from transformer.decoding import Candidate, Decoding, Hypothesis, Step
from transformer.decoding.search_tree import SearchTree
from transformer.token import Token
from viz.components.decode_player.decode_player import DecodePlayer, pack_player
from viz.components.kit.browser import unpack

START, SOURCE = Token(1, "<s>", special=True), (Token(5, "▁It"), Token(6, "<b>"))
BEST = (Candidate(Token(5, "▁a"), 0.5), Candidate(Token(6, "▁b"), 0.25))


def decoding(*steps: Step, vocab_size: int = 20) -> Decoding:
    target = tuple(step.chosen.token for step in steps)
    ids = tuple(token.id for token in target)
    flat = torch.full((len(steps), vocab_size), -log(vocab_size))
    hypotheses = (Hypothesis(ids, flat, 0.0),)
    return Decoding("", SOURCE, target, steps, hypotheses, vocab_size, search=SearchTree((), ()))


def packed(made: Decoding, weight: float = 0.25) -> tuple[dict, list[np.ndarray]]:
    n_target = len(made.target)
    cross, own = np.full((n_target, 2), weight), np.eye(n_target)
    return unpack(pack_player(made, cross, own, (START, *made.target[:-1]), 1, 0))


def test_steps_and_exact_weights() -> None:
    header, (cross, own) = packed(decoding(Step(BEST[0], BEST, 0.25, 1.5)), weight=1 / 3)
    assert header["source"] == [["▁It", 0], ["<b>", 0]]
    assert header["read"] == [["<s>", 1]]
    assert header["ids"] == [5]
    assert header["steps"] == [
        {
            "candidates": [["▁a", 0, 0.5, "50.0 %"], ["▁b", 0, 0.25, "25.0 %"]],
            "ids": [5, 6],
            "chosen": 0,
            "rest": 0.25,
            "rest_text": "25.0 %",
            "n_rest": 18,
            "entropy": 1.5,
        }
    ]
    assert cross.dtype == np.float32
    np.testing.assert_array_equal(cross, np.full((1, 2), np.float32(1 / 3)))
    np.testing.assert_array_equal(own, [[1.0]])


def test_a_chosen_token_that_is_not_among_the_best_is_shown_too() -> None:
    chosen = Candidate(Token(9, "▁c"), 0.125)
    header, _ = packed(decoding(Step(chosen, BEST, 0.25, 1.5)))
    (step,) = header["steps"]
    assert step["candidates"][step["chosen"]] == ["▁c", 0, 0.125, "12.5 %"]
    assert (step["rest"], step["rest_text"], step["n_rest"]) == (0.125, "12.5 %", 17)


def test_other_weights_are_the_same_decoding() -> None:
    one, other = Step(BEST[0], BEST, 0.25, 1.5), Step(BEST[1], BEST, 0.25, 1.5)
    name = packed(decoding(one))[0]["decoding"]
    assert packed(decoding(one), weight=0.5)[0]["decoding"] == name
    assert packed(decoding(other))[0]["decoding"] != name


def test_weights_of_another_size_are_refused() -> None:
    made = decoding(Step(BEST[0], BEST, 0.25, 1.5))
    with pytest.raises(ValueError, match="do not fit"):
        pack_player(made, np.zeros((2, 2)), np.zeros((1, 1)), (START,), 1, 0)


def test_a_generator_reads_prompt_and_continuation_as_one_text() -> None:
    made = decoding(Step(BEST[0], BEST, 0.25, 1.5), Step(BEST[1], BEST, 0.25, 1.5))
    read = (*SOURCE, made.target[0])
    header, (own,) = unpack(pack_player(made, None, np.eye(3)[1:], read, 1, 0))
    assert (len(header["source"]), len(header["prompt"]), len(header["read"])) == (0, 2, 3)
    np.testing.assert_array_equal(own, np.eye(3)[1:])
    with pytest.raises(ValueError, match="do not fit"):
        pack_player(made, None, np.eye(3), read, 1, 0)


def test_columns_are_words_with_the_sum_over_their_pieces() -> None:
    step = Step(BEST[0], BEST, 0.25, 1.5)
    source = (Token(5, "▁It"), Token(6, "s"), Token(2, "</s>", special=True))
    made = replace(decoding(step), source=source)
    cross, own = np.array([[0.25, 0.5, 0.25]]), np.ones((1, 1))
    header, arrays = unpack(pack_player(made, cross, own, (START,), 1, 0, words=True))
    assert header["source"] == [["Its", 0], ["</s>", 1]]
    assert header["columns"]["source"] == [[0, 1], [2]]
    assert header["target"] == [["a", 0, 1]]
    np.testing.assert_array_equal(arrays[0], [[0.75, 0.25]])
    plain = unpack(pack_player(made, cross, own, (START,), 1, 0))[0]
    assert plain["decoding"] == header["decoding"]  # the step that is shown stays


def test_what_each_source_word_has_received_adds_up() -> None:
    checkpoint = load_checkpoint("checkpoints/en-de", "cpu")
    made = decode(checkpoint, "It rains.")
    recording = record(checkpoint, "It rains.", made.target)
    header, (*_, so_far) = unpack(DecodePlayer(1, 2).payload(recording, made))
    assert header["coverage"] is True
    weights = recording.attentions["cross"].weights(1).mean(0).numpy()
    np.testing.assert_allclose(so_far, weights.cumsum(0), atol=1e-5)
    np.testing.assert_allclose(so_far.sum(1), np.arange(1, len(made.target) + 1), atol=1e-4)
