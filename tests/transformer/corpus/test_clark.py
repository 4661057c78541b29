"""The formulas of Clark et al. 2019 (General_Analysis.ipynb and head_distances.py), in loops.

What is behind their figures 2, 4 and 6, over a few texts of an encoder. Where a number of ours is
another one, the test says by how much.
"""

import math
from itertools import pairwise

import pytest
import torch

from transformer import Checkpoint, load_checkpoint, record, survey
from transformer.analysis.metrics.metric import jensen_shannon_of_heads
from transformer.checkpoint import checkpoints_folder

TEXTS = ("It rains.", "The old man has not seen his dog.", "She likes a long film.")
TARGET = "Es regnet."
Matrix = list[list[float]]


@pytest.fixture(scope="module")
def checkpoint() -> Checkpoint:
    return load_checkpoint(checkpoints_folder() / "en-de-small")


def maps(checkpoint: Checkpoint) -> dict[tuple[int, int], list[Matrix]]:
    """Layer and head -> its map of each text."""
    result: dict[tuple[int, int], list[Matrix]] = {}
    for text in TEXTS:
        attention = record(checkpoint, text, TARGET).attentions["encoder_self"]
        for layer in range(attention.n_layers):
            for head, each in enumerate(attention.weights(layer).double().tolist()):
                result.setdefault((layer, head), []).append(each)
    return result


def over_texts(values: list[float]) -> float:
    return sum(values) / len(values)


def smoothed(matrix: Matrix, share: float) -> Matrix:
    """They add a little to each weight, so that its logarithm is finite."""
    return [[(1 - share) * each + share / len(row) for each in row] for row in matrix]


def entropy(matrix: Matrix) -> float:
    """In nats, as in figure 4: the mean over all tokens."""
    rows = [-sum(p * math.log(p) for p in row) for row in smoothed(matrix, 0.0001)]
    return sum(rows) / len(rows)


def at_offset(matrix: Matrix, offset: int) -> float:
    """The sum over a diagonal by the number of all tokens, as in figure 2."""
    n = len(matrix)
    return sum(matrix[i][i + offset] for i in range(n) if 0 <= i + offset < n) / n


def divergence(first: Matrix, second: Matrix) -> float:
    """Jensen-Shannon in nats, summed over the tokens, as in figure 6."""
    total = 0.0
    for a, b in zip(smoothed(first, 0.001), smoothed(second, 0.001), strict=True):
        for p, q in zip(a, b, strict=True):
            middle = (p + q) / 2
            total += 0.5 * p * math.log(p / middle) + 0.5 * q * math.log(q / middle)
    return total


def test_the_numbers_of_a_survey_are_those_of_their_figures(checkpoint: Checkpoint) -> None:
    of = survey(checkpoint, TEXTS, [TARGET] * len(TEXTS))
    for (layer, head), texts in maps(checkpoint).items():
        numbers = {
            name: each.mean for name, each in of.of("encoder_self", layer, head).numbers.items()
        }
        theirs = {
            "same": over_texts([at_offset(each, 0) for each in texts]),
            # They divide by all tokens, and one has none before or after it.
            "previous": over_texts([at_offset(it, -1) * len(it) / (len(it) - 1) for it in texts]),
            "next": over_texts([at_offset(it, 1) * len(it) / (len(it) - 1) for it in texts]),
            "first": over_texts([sum(row[0] for row in each) / len(each) for each in texts]),
            "end": over_texts([sum(row[-1] for row in each) / len(each) for each in texts]),
        }
        for name, value in theirs.items():
            assert numbers[name] == pytest.approx(value, abs=1e-5), (layer, head, name)
        nats = numbers["entropy"] * math.log(2)
        assert nats == pytest.approx(over_texts([entropy(each) for each in texts]), abs=2e-3)


def test_the_divergence_of_two_heads_is_theirs_but_for_its_unit(checkpoint: Checkpoint) -> None:
    """Ours is a mean over rows in bits, theirs a sum in nats, of what they smooth."""
    heads = [texts[1] for texts in maps(checkpoint).values()]
    for first, second in pairwise(heads):
        a, b = (torch.tensor([smoothed(each, 0.001)]).double() for each in (first, second))
        ours = float(jensen_shannon_of_heads(a, b)) * math.log(2) * len(first)
        assert ours == pytest.approx(divergence(first, second), rel=1e-5)
    assert divergence([[0.7, 0.2, 0.1]], [[0.1, 0.2, 0.7]]) == pytest.approx(0.2531, abs=1e-3)
