"""The grid's thumbnails are the weights they stand for."""

import numpy as np
import pytest
import torch

from transformer.recording import Attention, AttentionCall
from transformer.tokenizer import Token
from viz.components.head_grid import FULL, MASKED, pack_head_grid
from viz.components.pack import unpack


def attention(n_layers: int, n_heads: int, n_queries: int, n_keys: int, kind: str) -> Attention:
    random = torch.Generator().manual_seed(0)

    def call() -> AttentionCall:
        q = torch.randn(n_heads, n_queries, 4, generator=random) * 3
        k = torch.randn(n_heads, n_keys, 4, generator=random)
        return AttentionCall(q, k, k, None, 0.5, is_causal=kind == "decoder_self")

    queries, keys = (tuple(Token(i, f"▁piece{i}") for i in range(n)) for n in (n_queries, n_keys))
    produced = None if kind == "encoder_self" else queries
    return Attention(kind, queries, keys, tuple(call() for _ in range(n_layers)), produced)


def expected_byte(weights: np.ndarray, allowed: np.ndarray) -> int:
    if not allowed.any():
        return MASKED
    return int(np.round(np.sqrt(np.float32(weights[allowed].max())) * FULL))


@pytest.mark.parametrize("kind", ["encoder_self", "decoder_self"])
@pytest.mark.parametrize(("n", "block"), [(1, 1), (9, 1), (64, 1), (65, 2), (150, 3)])
def test_every_pixel_is_the_maximum_of_its_cells(kind: str, n: int, block: int) -> None:
    recorded = attention(2, 2, n, n, kind)
    header, (thumbnails, _, _) = unpack(pack_head_grid(recorded))
    side = -(-n // block)
    assert header["block"] == [block, block]
    assert thumbnails.shape == (2, 2, side, side)
    for layer in range(2):
        weights, allowed = recorded.weights(layer).numpy(), recorded.allowed(layer).numpy()
        for head in range(2):
            for row in range(side):
                for column in range(side):
                    cells = np.s_[
                        head,
                        row * block : (row + 1) * block,
                        column * block : (column + 1) * block,
                    ]
                    byte = expected_byte(weights[cells], allowed[cells])
                    assert thumbnails[layer, head, row, column] == byte


def test_masked_is_not_zero() -> None:
    recorded = attention(1, 2, 12, 12, "decoder_self")
    header, (thumbnails, _, _) = unpack(pack_head_grid(recorded))
    assert header["masked"]
    np.testing.assert_array_equal(thumbnails[0] == MASKED, ~recorded.allowed(0).numpy())


def test_axes_are_pooled_each_by_itself() -> None:
    header, (thumbnails, _, _) = unpack(pack_head_grid(attention(1, 1, 10, 130, "cross")))
    assert header["block"] == [1, 3]
    assert thumbnails.shape == (1, 1, 10, 44)
    assert not header["masked"]


def test_the_strongest_cell_is_one_of_a_row_with_a_choice() -> None:
    recorded = attention(2, 3, 7, 7, "decoder_self")
    _, (_, strongest, weight) = unpack(pack_head_grid(recorded))
    for layer in range(2):
        weights = recorded.weights(layer)
        for head in range(3):
            query, key = strongest[layer, head]
            assert query > 0  # row 0 of causal attention can only attend to itself
            assert weights[head, query, key] == weights[head, 1:].max() == weight[layer, head]


def test_a_single_token_has_a_strongest_cell() -> None:
    _, (_, strongest, weight) = unpack(pack_head_grid(attention(1, 1, 1, 1, "decoder_self")))
    assert strongest.ravel().tolist() == [0, 0]
    assert weight.item() == 1


@pytest.mark.parametrize(
    ("kind", "n_prompt", "rows", "columns"),
    [
        ("encoder_self", 0, {"source": 0}, {"source": 0}),
        ("cross", 0, {"target": 0}, {"source": 0}),
        ("decoder_self", 0, {"target": 0}, {"target": 1}),
        ("decoder_self", 2, {"source": -1, "target": 1}, {"source": 0, "target": 2}),
    ],
)
def test_sides(kind: str, n_prompt: int, rows: dict[str, int], columns: dict[str, int]) -> None:
    header, _ = unpack(pack_head_grid(attention(1, 1, 3, 3, kind), n_prompt))
    assert (header["rows"], header["columns"]) == (rows, columns)


def test_size_of_144_heads_at_30_tokens() -> None:
    assert len(pack_head_grid(attention(12, 12, 30, 30, "encoder_self"))) <= 0.2 * 2**20
