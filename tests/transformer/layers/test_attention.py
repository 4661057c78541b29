"""Attention in padded batches: weights that a call yields give back what the fused call gave."""

import pytest
import torch
import torch.nn.functional as F

from transformer.config import ModelConfig
from transformer.layers.attention import MultiHeadAttention
from transformer.layers.positions import sinusoids
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
