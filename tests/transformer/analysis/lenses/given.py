"""Recordings made of given weights, and small models whose every number can be looked up."""

from dataclasses import replace

import torch
from torch import Tensor

from tests.conftest import random_checkpoint, tiny
from tests.presets import PRESETS
from transformer import Recording, record
from transformer.config import ModelConfig
from transformer.recording import Attention, AttentionCall
from transformer.token import Token

SOURCE, TARGET = "3 9 4 4 17", "5 6 19"
_CLASSIFIER = PRESETS["former-classifier"].config
CONFIGS: dict[str, ModelConfig] = {
    "encoder-decoder": tiny(PRESETS["post-norm"].config),
    "decoder-only": tiny(PRESETS["gpt2"].config),
    "classifier": tiny(_CLASSIFIER),
    "fourth root, wide heads": tiny(_CLASSIFIER, d_key=12, d_value=7),
    "no projections": tiny(_CLASSIFIER, projections=False, d_key=None, d_value=None),
}


def recorded(config: ModelConfig) -> Recording:
    checkpoint = random_checkpoint(config)
    return record(checkpoint, SOURCE, TARGET if checkpoint.family.decodes else None)


def call_of(weights: Tensor, mask: Tensor | None = None, is_causal: bool = False) -> AttentionCall:
    """A call whose softmax gives these weights [H, Q, K]: each query is their logarithm."""
    keys = torch.eye(weights.size(-1)).expand(weights.size(0), -1, -1)
    return AttentionCall(weights.log(), keys, keys, mask, 1.0, is_causal)


def recording_of(**attentions: Attention) -> Recording:
    return Recording((), (), attentions, {}, torch.zeros(1))


def self_attention(layers: list[Tensor], kind: str = "encoder_self") -> Attention:
    """weights [H, T, T] of each layer."""
    tokens = tuple(Token(i, f"p{i}") for i in range(layers[0].size(-1)))
    return Attention(kind, tokens, tokens, tuple(call_of(weights) for weights in layers))


def random_layers(n_layers: int, n_heads: int, n_tokens: int, sharp: float = 2.0) -> list[Tensor]:
    generator = torch.Generator().manual_seed(5)
    shape = (n_layers, n_heads, n_tokens, n_tokens)
    return list((torch.randn(shape, generator=generator) * sharp).softmax(-1))


def padded(attention: Attention, n_real: int, is_causal: bool = False) -> Attention:
    """The same with keys masked from `n_real` on."""
    mask = torch.arange(len(attention.keys)).lt(n_real)[None, None]
    calls = (replace(call, mask=mask, is_causal=is_causal) for call in attention.calls)
    return replace(attention, calls=tuple(calls))
