"""Bytes that the grid of all heads sends to the browser."""

import torch

from tests.bench.bench import Bench, Row
from transformer.reading import AttentionMap, read
from transformer.recording import Attention, AttentionCall, Recording
from transformer.tokenizer import Token
from viz.components.browser import envelope
from viz.components.head_grid import pack_head_grid
from viz.theme import LIGHT

LAYERS, HEADS, D_HEAD = 12, 12, 64
GOAL_BYTES = {30: 200_000}


def random_map(n_tokens: int) -> AttentionMap:
    """12 layers of 12 heads over random queries and keys."""

    def call() -> AttentionCall:
        q, k, v = torch.randn(3, HEADS, n_tokens, D_HEAD)
        return AttentionCall(q, k, v, mask=None, scale=D_HEAD**-0.5, is_causal=False)

    tokens = tuple(Token(i, f"▁token{i}") for i in range(n_tokens))
    attention = Attention("encoder_self", tokens, tokens, tuple(call() for _ in range(LAYERS)))
    recording = Recording(tokens, (), {attention.kind: attention}, {}, torch.zeros(1))
    return read(recording, attention.kind)


def run() -> list[Row]:
    rows = []
    for n_tokens in (30, 128, 256):
        n_bytes = len(envelope(pack_head_grid(random_map(n_tokens)), LIGHT, selected=[0, 0]))
        full = LAYERS * HEADS * n_tokens**2 * 4
        goal = GOAL_BYTES[n_tokens] / full if n_tokens in GOAL_BYTES else None
        name = f"grid, 144 heads, {n_tokens} tokens: {n_bytes / 1e6:.2f} MB"
        rows.append(Row(name, n_bytes / full, "every weight as float32", goal))
    return rows


BENCH = Bench("payload", run)
