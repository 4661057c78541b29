"""Attention and layers equal torch's own with the same weights."""

import pytest
import torch
from torch import Tensor, nn

from transformer.config import ModelConfig
from transformer.layers.attention import MultiHeadAttention
from transformer.layers.blocks import DecoderLayer, EncoderLayer

B, S, T, D, H = 4, 7, 5, 12, 3
close = {"rtol": 0.0, "atol": 1e-5}


def sources() -> tuple[Tensor, Tensor]:
    """Vectors [B, S, D] and which of them are real."""
    torch.manual_seed(1)
    return torch.randn(B, S, D), torch.arange(S) < torch.tensor([7, 5, 1, 3])[:, None]


def random(module: nn.Module) -> nn.Module:
    torch.manual_seed(0)
    for parameter in module.parameters():
        nn.init.normal_(parameter, 0.1, 0.4)
    return module.eval().requires_grad_(False)


def copy_attention(ours: MultiHeadAttention, theirs: nn.MultiheadAttention) -> None:
    parts = (ours.query, ours.key, ours.value)
    theirs.in_proj_weight.copy_(torch.cat([part.weight for part in parts]))
    theirs.out_proj.weight.copy_(ours.output.weight)
    if ours.output.bias is not None:
        theirs.in_proj_bias.copy_(torch.cat([part.bias for part in parts]))
        theirs.out_proj.bias.copy_(ours.output.bias)


def copy_layer(ours: nn.Module, theirs: nn.Module) -> None:
    copy_attention(ours.self_attention, theirs.self_attn)
    norms = [ours.self_residual.norm, ours.feed_residual.norm]
    if isinstance(ours, DecoderLayer):
        copy_attention(ours.cross_attention, theirs.multihead_attn)
        norms.insert(1, ours.cross_residual.norm)
        theirs.norm3.load_state_dict(norms[2].state_dict())
    theirs.norm1.load_state_dict(norms[0].state_dict())
    theirs.norm2.load_state_dict(norms[1].state_dict())
    theirs.linear1.load_state_dict(ours.feed_forward.inner.state_dict())
    theirs.linear2.load_state_dict(ours.feed_forward.outer.state_dict())


def torch_layer(kind: type[nn.Module], config: ModelConfig) -> nn.Module:
    sizes = config.d_model, config.n_heads, config.d_ff, 0.0, config.activation
    layer = kind(*sizes, batch_first=True, norm_first=config.norm_order == "pre")
    return layer.eval().requires_grad_(False)


@pytest.mark.parametrize("bias", ["all", "none"])
def test_attention_equals_torch(bias: str) -> None:
    ours = random(MultiHeadAttention(ModelConfig(d_model=D, n_heads=H, attention_bias=bias)))
    theirs = nn.MultiheadAttention(D, H, bias=bias == "all", batch_first=True)
    copy_attention(ours, theirs.requires_grad_(False))
    x, real = sources()
    queries = torch.randn(B, T, D)
    expected, weights = theirs(queries, x, x, key_padding_mask=~real, average_attn_weights=False)
    given = ours(queries, ours.keys_values(x), real[:, None, None])
    assert weights.shape == (B, H, T, S)
    torch.testing.assert_close(given, expected, **close)


def test_causal_attention_equals_torch() -> None:
    ours = random(MultiHeadAttention(ModelConfig(d_model=D, n_heads=H)))
    theirs = nn.MultiheadAttention(D, H, batch_first=True).requires_grad_(False)
    copy_attention(ours, theirs)
    x, _ = sources()
    later = torch.ones(S, S, dtype=torch.bool).triu(1)
    expected, _ = theirs(x, x, x, attn_mask=later)
    torch.testing.assert_close(ours(x, ours.keys_values(x), is_causal=True), expected, **close)


@pytest.mark.parametrize("activation", ["relu", "gelu"])
@pytest.mark.parametrize("order", ["post", "pre"])
def test_an_encoder_layer_equals_torch(order: str, activation: str) -> None:
    config = ModelConfig(d_model=D, n_heads=H, d_ff=20, norm_order=order, activation=activation)
    ours, theirs = random(EncoderLayer(config)), torch_layer(nn.TransformerEncoderLayer, config)
    copy_layer(ours, theirs)
    x, real = sources()
    expected = theirs(x, src_key_padding_mask=~real)
    torch.testing.assert_close(ours(x, real[:, None, None])[real], expected[real], **close)


@pytest.mark.parametrize("activation", ["relu", "gelu"])
@pytest.mark.parametrize("order", ["post", "pre"])
def test_a_decoder_layer_equals_torch(order: str, activation: str) -> None:
    config = ModelConfig(d_model=D, n_heads=H, d_ff=20, norm_order=order, activation=activation)
    ours, theirs = random(DecoderLayer(config)), torch_layer(nn.TransformerDecoderLayer, config)
    copy_layer(ours, theirs)
    memory, real = sources()
    x, later = torch.randn(B, T, D), torch.ones(T, T, dtype=torch.bool).triu(1)
    expected = theirs(x, memory, tgt_mask=later, memory_key_padding_mask=~real)
    given = ours(x, real[:, None, None], ours.start(memory))
    torch.testing.assert_close(given, expected, **close)


def test_a_decoder_layer_without_memory_is_a_causal_encoder_layer() -> None:
    """As GPT is built: no cross-attention, and none of its weights."""
    config = ModelConfig(d_model=D, n_heads=H, d_ff=20, norm_order="pre")
    ours = random(DecoderLayer(config, has_memory=False))
    assert not [name for name, _ in ours.named_parameters() if "cross" in name]
    theirs = torch_layer(nn.TransformerEncoderLayer, config)
    encoder_layer = EncoderLayer(config).requires_grad_(False)
    encoder_layer.load_state_dict(ours.state_dict())
    copy_layer(encoder_layer, theirs)
    x, _ = sources()
    later = torch.ones(S, S, dtype=torch.bool).triu(1)
    given = ours(x, None, ours.start(x))
    torch.testing.assert_close(given, theirs(x, src_mask=later), **close)


def test_the_decoder_s_feed_forward_sublayer_may_lack_its_norm() -> None:
    config = ModelConfig(
        d_model=D, n_heads=H, d_ff=20, norm_order="sublayer", decoder_feed_norm=False
    )
    ours = random(DecoderLayer(config))
    names = {name.partition(".")[0] for name, _ in ours.named_parameters() if "norm" in name}
    assert names == {"self_residual", "cross_residual"}
    x = torch.randn(B, T, D)
    given = ours.feed_residual(x, ours.feed_forward)
    torch.testing.assert_close(given, x + ours.feed_forward(x), **close)
