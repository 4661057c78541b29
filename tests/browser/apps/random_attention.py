"""Attention that no model made: sharp and the same each time, so that a test knows it too."""

from types import MappingProxyType

import torch

from transformer.analysis.reading import AttentionMap, Reading, read
from transformer.recording import Attention, AttentionCall, Recording
from transformer.token import Token

READING = Reading()


def random_map(kind: str, n_heads: int, n_tokens: int, reading: Reading = READING) -> AttentionMap:
    """One layer. Cross-attention has two more keys than queries; a decoder is causal."""
    recording = random_recording(kind, n_heads, n_tokens)
    return read(recording, kind, reading)


def random_recording(kind: str, n_heads: int, n_tokens: int) -> Recording:
    """One layer of one kind of attention, sharp; its pieces are told apart by their numbers."""
    random = torch.Generator().manual_seed(0)
    n_keys = n_tokens + 2 if kind == "cross" else n_tokens
    q = 4 * torch.randn(n_heads, n_tokens, 8, generator=random)
    k = torch.randn(n_heads, n_keys, 8, generator=random)
    keys = tuple(Token(i, f"▁key{i}") for i in range(n_keys))
    queries = tuple(Token(i, f"▁read{i}") for i in range(n_tokens)) if kind == "cross" else keys
    written = tuple(Token(i, f"▁word{i}") for i in range(n_tokens))
    call = AttentionCall(q, k, k, None, 8**-0.5, is_causal=kind == "decoder_self")
    produced = None if kind == "encoder_self" else written
    attention = Attention(kind, queries, keys, (call,), produced)
    return Recording(keys, written, MappingProxyType({kind: attention}), {}, torch.zeros(0))
