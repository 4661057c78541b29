"""Attention of a model of GPT-2's size with random weights: what the benches of the screen show."""

from functools import lru_cache
from types import MappingProxyType

import torch

from transformer.analysis.reading import AttentionMap, read
from transformer.recording import Attention, AttentionCall, Recording
from transformer.token import Token

LAYERS, HEADS, D_HEAD = 12, 12, 64
KIND = "encoder_self"


def random_map(n_tokens: int, turn: int = 0) -> AttentionMap:
    """12 layers of 12 heads over random queries and keys.

    turn: where the layers begin, so that each turn shows what was not shown before.
    """
    calls = _calls(n_tokens)
    first = turn % LAYERS
    tokens = tuple(Token(i, f"▁token{i}") for i in range(n_tokens))
    attention = Attention(KIND, tokens, tokens, calls[first:] + calls[:first])
    recording = Recording(tokens, (), MappingProxyType({KIND: attention}), {}, torch.zeros(0))
    return read(recording, KIND)


@lru_cache(maxsize=1)
def _calls(n_tokens: int) -> tuple[AttentionCall, ...]:
    random = torch.Generator().manual_seed(n_tokens)

    def call() -> AttentionCall:
        q, k = torch.randn(2, HEADS, n_tokens, D_HEAD, generator=random)
        return AttentionCall(q, k, k, mask=None, scale=D_HEAD**-0.5, is_causal=False)

    return tuple(call() for _ in range(LAYERS))
