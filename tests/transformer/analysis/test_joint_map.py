"""Queries and keys in one space: distances order as scores do, to the last key."""

from pathlib import Path

import pytest
import torch

from transformer import load_checkpoint, record
from transformer.analysis.score_terms import exact, joint_map
from transformer.recording import AttentionCall


def call(q: torch.Tensor, k: torch.Tensor, is_causal: bool = False) -> AttentionCall:
    return AttentionCall(q[None], k[None], k[None], None, 0.5, is_causal)


def random(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def test_squared_distances_are_scores_exactly() -> None:
    q, k = random(7, 5).double(), 3 * random(9, 5, seed=1).double()
    a, b = exact(q, k)
    longest = k.norm(dim=-1).max()
    expected = q.pow(2).sum(-1)[:, None] + longest**2 - 2 * q @ k.mT
    assert torch.cdist(a, b).pow(2) == pytest.approx(expected, abs=1e-9)
    assert torch.equal(torch.cdist(a, b).argsort(-1), (q @ k.mT).argsort(-1, descending=True))


@pytest.mark.parametrize("name", ["en-de-small", "shakespeare"])
def test_the_nearest_key_is_the_most_attended_one_in_every_head(name: str) -> None:
    checkpoint = load_checkpoint(Path("checkpoints") / name, "cpu")
    target = "Es regnet heute." if name == "en-de-small" else None
    recording = record(checkpoint, "It rains today.", target)
    for attention in recording.attentions.values():
        for layer, of_layer in enumerate(attention.calls):
            for head in range(attention.n_heads):
                of = joint_map(of_layer.only(head))
                weights = attention.weights(layer, head)
                assert torch.equal(of.first, weights.argmax(-1))
                apart = torch.cdist(of.queries, of.keys)
                closed = ~attention.allowed(layer, head)
                assert torch.equal(apart.masked_fill(closed, torch.inf).argmin(-1), of.first)
                assert 0 <= of.share <= 1 and 0 < of.variance <= 1 + 1e-9


def test_a_head_of_one_dimension_loses_nothing_on_the_plane() -> None:
    of = joint_map(call(random(6, 1), random(8, 1, seed=2)))
    assert of.share == 1.0 and of.variance == pytest.approx(1.0)
    apart = torch.cdist(of.query_points, of.key_points)
    assert apart == pytest.approx(torch.cdist(of.queries, of.keys), abs=1e-9)


def test_a_projection_that_loses_first_keys_says_so() -> None:
    """In forty dimensions: a plane cannot hold who is nearest to whom."""
    of = joint_map(call(random(40, 40), random(40, 40, seed=1)))
    n_right = int((of.nearest == of.first).sum())
    assert of.share < 0.5 and of.share == n_right / 40


def test_what_is_more_than_products_has_no_map() -> None:
    plain = call(random(3, 2), random(3, 2))
    biased = AttentionCall(plain.q, plain.k, plain.v, None, 0.5, False, bias=torch.ones(1, 3, 3))
    with pytest.raises(ValueError, match="more than the products"):
        joint_map(biased)
