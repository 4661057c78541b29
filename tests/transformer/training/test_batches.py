"""Bucketed batches: every pair once, padded no more than needed."""

import random
from collections import Counter

import torch

from transformer.training.batches import IGNORED, Batch, Pair, bucketed, make_batch

PAD, BOS = 0, 1
RNG = random.Random(0)
PAIRS: list[Pair] = [
    tuple([RNG.randrange(2, 50) for _ in range(RNG.randint(1, 20))] for _ in range(2))
    for _ in range(300)
]
PAIRS.append(([7] * 150, [8] * 200))  # longer than a batch


def contents(batches: list[Batch]) -> Counter[tuple[tuple[int, ...], ...]]:
    return Counter(
        tuple(tuple(int(id) for id in side if id not in (PAD, IGNORED)) for side in row)
        for batch in batches
        for row in zip(batch.inputs[0], batch.target_output, strict=True)
    )


def test_every_pair_exactly_once() -> None:
    batches = list(bucketed(PAIRS, 200, PAD, BOS, seed=3))
    assert contents(batches) == Counter((tuple(s), tuple(t)) for s, t in PAIRS)


def test_batches_keep_to_their_size() -> None:
    for batch in bucketed(PAIRS, 200, PAD, BOS, seed=3):
        assert batch.n_tokens <= 200 or len(batch.inputs[0]) == 1


def test_lengths_are_nearly_equal_within_a_batch() -> None:
    """Of few pairs, whose two lengths have nothing to do with each other, and of many like ones."""
    assert padded(PAIRS, 400) < 0.25
    like = [([5] * n, [6] * RNG.randint(n, n + 3)) for n in range(1, 20) for _ in range(200)]
    assert padded(like, 400) < 0.03


def padded(pairs: list[Pair], tokens_per_batch: int) -> float:
    """The share of positions, of both sides, that hold no token."""
    batches = list(bucketed(pairs, tokens_per_batch, PAD, BOS, seed=3))
    empty = sum(int(ids.eq(PAD).sum()) for batch in batches for ids in batch.inputs)
    return empty / sum(batch.n_tokens for batch in batches)


def test_the_seed_decides_the_order() -> None:
    first, again, other = (list(bucketed(PAIRS, 200, PAD, BOS, seed)) for seed in (1, 1, 2))
    assert all(
        torch.equal(a.inputs[0], b.inputs[0]) and torch.equal(a.target_output, b.target_output)
        for a, b in zip(first, again, strict=True)
    )
    assert contents(first) == contents(other)
    assert not all(
        a.inputs[0].shape == b.inputs[0].shape and torch.equal(a.inputs[0], b.inputs[0])
        for a, b in zip(first, other, strict=False)
    )


def test_the_target_input_is_one_step_behind() -> None:
    batch = make_batch([([5, 2], [6, 7, 2]), ([5, 5, 2], [6, 2])], PAD, BOS)
    assert batch.inputs[0].tolist() == [[5, 2, PAD], [5, 5, 2]]
    assert batch.target_output.tolist() == [[6, 7, 2], [6, 2, IGNORED]]
    assert batch.inputs[1].tolist() == [[BOS, 6, 7], [BOS, 6, PAD]]
    assert (batch.n_tokens, batch.n_targets) == (12, 5)
