"""Maps to show: of a shipped checkpoint, and of random queries and keys of any length."""

from functools import cache
from pathlib import Path
from types import MappingProxyType

import torch

from transformer import decode, load_checkpoint, record
from transformer.analysis.reading import AttentionMap, read
from transformer.recording import Attention, AttentionCall, Recording
from transformer.token import Token

ROOT = Path(__file__).parents[3]
SENTENCE = "The animal didn't cross the street because it was too tired."


@cache
def translated(kind: str) -> AttentionMap:
    """Of en-de, which translates one sentence."""
    checkpoint = load_checkpoint(ROOT / "checkpoints/en-de")
    decoding = decode(checkpoint, SENTENCE)
    return read(record(checkpoint, SENTENCE, decoding.target), kind)


@cache
def drawn(n_rows: int, n_columns: int, kind: str = "cross") -> AttentionMap:
    """Of random queries and keys, strongest near the diagonal; 1 layer of 2 heads."""
    random = torch.Generator().manual_seed(0)
    at_row, at_column = (torch.linspace(0, 40, n)[:, None] for n in (n_rows, n_columns))
    waves = torch.arange(1, 9).sqrt() / 2
    places = [torch.cat([(at * waves).sin(), (at * waves).cos()], 1) for at in (at_row, at_column)]
    q, k = (place + torch.randn(2, *place.shape, generator=random) * 0.4 for place in places)
    call = AttentionCall(q, k, k, None, 0.8, is_causal=kind == "decoder_self")
    rows = tuple(Token(i, f"▁row{i}") for i in range(n_rows))
    columns = tuple(Token(i, f"▁column{i}") for i in range(n_columns))
    is_cross = kind == "cross"
    queries, produced = (rows, rows) if is_cross else (columns, None)
    attention = Attention(kind, queries, columns, (call,), produced)
    attentions = MappingProxyType({kind: attention})
    return read(Recording(columns, rows, attentions, MappingProxyType({}), torch.empty(0)), kind)
