"""Attention of any size over random queries and keys, the same in every process."""

from dataclasses import replace
from typing import Literal

import torch
from torch import Tensor

from transformer.analysis.lenses.lens import Lens
from transformer.analysis.reading import AttentionMap, Reading, read
from transformer.recording import Attention, AttentionCall, Recording
from transformer.token import Token

AS_IT_IS = Reading()


def random_attention(
    n_layers: int, n_heads: int, n_queries: int, n_keys: int, kind: str = "encoder_self"
) -> Attention:
    """Heads of all degrees of sharpness; decoder_self is causal."""
    random = torch.Generator().manual_seed(0)

    def call() -> AttentionCall:
        q = torch.randn(n_heads, n_queries, 4, generator=random)
        q = q * torch.linspace(0.5, 4, n_heads)[:, None, None]
        k = torch.randn(n_heads, n_keys, 4, generator=random)
        return AttentionCall(q, k, k, None, 0.5, is_causal=kind == "decoder_self")

    side = "target" if kind == "cross" else "piece"
    queries = tuple(Token(i, f"▁{side}{i}", i == n_queries - 1) for i in range(n_queries))
    keys = tuple(Token(i, f"▁piece{i}", i == n_keys - 1) for i in range(n_keys))
    produced = None if kind == "encoder_self" else (*queries[1:], Token(n_queries, "</s>", True))
    return Attention(kind, queries, keys, tuple(call() for _ in range(n_layers)), produced)


def random_recording(attention: Attention) -> Recording:
    """A recording of one attention and nothing else."""
    return Recording(
        attention.keys, attention.queries, {attention.kind: attention}, {}, torch.zeros(1)
    )


def random_map(
    n_layers: int,
    n_heads: int,
    n_queries: int,
    n_keys: int,
    kind: str = "encoder_self",
    scale: Literal["share", "size", "signed"] = "share",
    per_head: bool = True,
    reading: Reading = AS_IT_IS,
) -> AttentionMap:
    """The weights; or, for the other scales, raw scores or their sizes."""
    recording = random_recording(random_attention(n_layers, n_heads, n_queries, n_keys, kind))
    map = read(recording, kind, reading)
    if scale == "share" and per_head:
        return map

    def compute(recording: Recording, kind: str, layer: int) -> Tensor:
        attention = recording.attentions[kind]
        values = attention.weights(layer)
        if scale != "share":
            scores = attention.calls[layer].scores().masked_fill(~attention.allowed(layer), 0.0)
            values = scores if scale == "signed" else scores.abs()
        return values if per_head else values.mean(0, keepdim=True)

    return replace(map, lens=Lens("scores", "Score", "q·k", "", scale, compute, per_head))
