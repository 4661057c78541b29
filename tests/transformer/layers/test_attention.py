"""Attention in padded batches: weights that a call yields give back what the fused call gave."""

import math

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from transformer.config import ModelConfig
from transformer.layers.attention import DotProductAttention, MultiHeadAttention
from transformer.layers.embedding import sinusoids
from transformer.recording import AttentionCall

B, T, D, H = 3, 6, 16, 4


@pytest.mark.parametrize("is_causal", [False, True])
def test_weights_give_back_the_fused_output_of_a_padded_batch(is_causal: bool) -> None:
    torch.manual_seed(0)
    q, k, v = torch.randn(3, B, H, T, D // H)
    n_keys = torch.tensor([6, 4, 1])
    mask = None if is_causal else (torch.arange(T) < n_keys[:, None])[:, None, None, :]
    fused = F.scaled_dot_product_attention(q, k, v, attn_mask=mask, is_causal=is_causal)
    for row in range(B):
        row_mask = None if mask is None else mask[row]
        call = AttentionCall(q[row], k[row], v[row], row_mask, (D // H) ** -0.5, is_causal)
        torch.testing.assert_close(call.weights() @ v[row], fused[row], rtol=0, atol=1e-5)
        torch.testing.assert_close(call.weights().sum(-1), torch.ones(H, T), rtol=0, atol=1e-5)
        assert bool((call.weights()[~call.allowed()] == 0).all())


def test_a_row_with_every_cell_masked_is_zero() -> None:
    q, k, v = torch.randn(3, H, T, D // H)
    call = AttentionCall(q, k, v, torch.zeros(1, 1, T, dtype=torch.bool), 0.5, False)
    assert not call.weights().any()


def test_padding_changes_nothing() -> None:
    torch.manual_seed(0)
    attention = MultiHeadAttention(ModelConfig(d_model=D, n_heads=H))
    x = torch.randn(1, 4, D)
    padded = torch.cat([x, torch.randn(1, 2, D)], dim=1)
    mask = torch.tensor([True] * 4 + [False] * 2)[None, None, None, :]
    alone = attention(x, attention.keys_values(x))
    beside = attention(x, attention.keys_values(padded), mask)
    torch.testing.assert_close(alone, beside, rtol=0, atol=1e-5)


def test_sinusoids_follow_the_formula() -> None:
    table = sinusoids(50, 8)
    for position in (0, 1, 17, 49):
        for i in range(4):
            angle = torch.tensor(position / 10000 ** (2 * i / 8), dtype=torch.float64)
            assert float(table[position, 2 * i]) == pytest.approx(float(angle.sin()), abs=1e-6)
            assert float(table[position, 2 * i + 1]) == pytest.approx(float(angle.cos()), abs=1e-6)


def by_loops(attention: MultiHeadAttention, x: Tensor, is_causal: bool) -> Tensor:
    """AIAYN, section 3.2, one head, query and key at a time. x: [T, D] -> [T, D]."""
    q, k, v = attention.query(x), attention.key(x), attention.value(x)
    d_key, d_value = q.size(1) // H, v.size(1) // H
    rows = []
    for query in range(len(x)):
        heads = []
        for head in range(H):
            keys, values = (slice(head * d, (head + 1) * d) for d in (d_key, d_value))
            n_seen = query + 1 if is_causal else len(x)
            scores = [float(q[query, keys] @ k[t, keys]) / d_key**0.5 for t in range(n_seen)]
            total = sum(map(math.exp, scores))
            parts = (math.exp(s) / total * v[t, values] for t, s in enumerate(scores))
            heads.append(sum(parts, torch.zeros(d_value)))
        rows.append(attention.output(torch.cat(heads)))
    return torch.stack(rows)


@pytest.mark.parametrize("is_causal", [False, True])
@pytest.mark.parametrize("scaling", ["sqrt", "fourth_root"])
@pytest.mark.parametrize(("d_key", "d_value"), [(None, None), (D, D), (5, 7), (7, None)])
def test_sizes_of_heads(
    d_key: int | None, d_value: int | None, scaling: str, is_causal: bool
) -> None:
    torch.manual_seed(0)
    config = ModelConfig(
        d_model=D, n_heads=H, d_key=d_key, d_value=d_value, attention_scale=scaling
    )
    attention, x = MultiHeadAttention(config).requires_grad_(False), torch.randn(2, T, D)
    k, v = attention.keys_values(x)
    assert k.shape == (2, H, T, d_key or D // H)
    assert v.shape == (2, H, T, d_value or D // H)
    assert attention.output.weight.shape == (D, H * (d_value or D // H))
    given = attention(x, (k, v), is_causal=is_causal)
    for row in range(2):
        expected = by_loops(attention, x[row], is_causal)
        torch.testing.assert_close(given[row], expected, rtol=0, atol=1e-5)


@pytest.mark.parametrize("n_heads", [1, 4])
def test_plain_self_attention(n_heads: int) -> None:
    """softmax(X X^T) X, and nothing to learn."""
    torch.manual_seed(0)
    config = ModelConfig(d_model=D, n_heads=n_heads, projections=False, attention_scale="none")
    attention, x = MultiHeadAttention(config), torch.randn(B, T, D)
    assert list(attention.parameters()) == []
    given = attention(x, attention.keys_values(x))
    chunks = x.chunk(n_heads, dim=-1)  # heads divide the dimensions among themselves
    expected = torch.cat([(part @ part.mT).softmax(-1) @ part for part in chunks], dim=-1)
    torch.testing.assert_close(given, expected, rtol=0, atol=1e-6)


def test_fourth_root_equals_sqrt() -> None:
    torch.manual_seed(0)
    q, k, v = torch.randn(3, B, H, T, D)
    sqrt, fourth_root = (
        DotProductAttention(D**-0.5, before)(q, k, v, None, False) for before in (False, True)
    )
    torch.testing.assert_close(sqrt, fourth_root, rtol=0, atol=1e-6)


@pytest.mark.parametrize(
    ("bias", "biased"),
    [("all", {"query", "key", "value", "output"}), ("output", {"output"}), ("none", set())],
)
def test_which_projections_have_a_bias(bias: str, biased: set[str]) -> None:
    attention = MultiHeadAttention(ModelConfig(d_model=D, n_heads=H, attention_bias=bias))
    names = {name.split(".")[0] for name, p in attention.named_parameters() if p.dim() == 1}
    assert names == biased
