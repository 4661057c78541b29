"""Table 1 of the paper: its numbers by hand, and layers that are really timed."""

import pytest
import torch
import torch.nn.functional as F

from transformer.complexity import (
    CONTIGUOUS,
    LAYERS,
    Layer,
    Sizes,
    measure,
    restricted_attention,
)

BY_NAME = {layer.name: layer for layer in LAYERS}
CPU = torch.device("cpu")


@pytest.mark.parametrize(
    ("name", "operations", "sequential", "longest_path"),
    [
        ("self_attention", 6 * 6 * 4, 1, 1),
        ("restricted", 2 * 6 * 4, 1, 3),
        ("recurrent", 6 * 4 * 4, 6, 6),
        ("convolutional", 3 * 6 * 4 * 4, 1, 2),
    ],
)
def test_the_table_by_hand(name: str, operations: int, sequential: int, longest_path: int) -> None:
    layer, n, sizes = BY_NAME[name], 6, Sizes(d=4, k=3, r=2)
    assert layer.operations.value(n, sizes) == operations
    assert layer.sequential.value(n, sizes) == sequential
    assert layer.longest_path.value(n, sizes) == longest_path
    assert CONTIGUOUS.value(n, sizes) == 2


def test_the_formulas_are_those_of_the_paper() -> None:
    assert [
        (layer.operations.formula, layer.sequential.formula, layer.longest_path.formula)
        for layer in LAYERS
    ] == [
        ("O(n² · d)", "O(1)", "O(1)"),
        ("O(r · n · d)", "O(1)", "O(n/r)"),
        ("O(n · d²)", "O(n)", "O(n)"),
        ("O(k · n · d²)", "O(1)", "O(log_k(n))"),
    ]


@pytest.mark.parametrize("d", [1, 64, 512])
def test_attention_is_cheaper_than_recurrence_while_n_is_below_d(d: int) -> None:
    attention, recurrence = (
        BY_NAME[name].operations.value for name in ("self_attention", "recurrent")
    )
    for n in (d - 1, d, d + 1):
        difference = attention(n, Sizes(d)) - recurrence(n, Sizes(d))
        assert difference == n * d * (n - d)  # below 0, 0, above 0


@pytest.mark.parametrize("k", [3, 5, 10])
def test_whole_powers_take_whole_steps(k: int) -> None:
    path, sizes = BY_NAME["convolutional"].longest_path.value, Sizes(k=k)
    assert [path(n, sizes) for n in (2, k, k + 1, k**3, k**3 + 1)] == [1, 1, 2, 3, 4]


def test_a_neighbourhood_wider_than_the_sequence_is_full_attention() -> None:
    full, restricted = BY_NAME["self_attention"], BY_NAME["restricted"]
    assert restricted.operations.value(5, Sizes(r=8)) == full.operations.value(5, Sizes())
    assert restricted.longest_path.value(5, Sizes(r=8)) == 1


@pytest.mark.parametrize("r", [1, 2, 5, 8, 30])
def test_restricted_attention_is_full_attention_under_a_band(r: int) -> None:
    generator = torch.Generator().manual_seed(0)
    q, k, v = torch.randn(3, 21, 16, generator=generator, dtype=torch.float64)
    offsets = torch.arange(21) - torch.arange(21)[:, None]  # key - query
    band = (offsets >= -(r // 2)) & (offsets < r - r // 2)
    expected = F.scaled_dot_product_attention(q, k, v, attn_mask=band)
    torch.testing.assert_close(restricted_attention(q, k, v, r), expected, atol=1e-6, rtol=0)


@pytest.mark.parametrize("layer", LAYERS, ids=lambda layer: layer.name)
@pytest.mark.parametrize("k", [3, 4])
def test_what_is_timed_maps_n_positions_to_n(layer: Layer, k: int) -> None:
    with torch.inference_mode():
        result = layer.build(Sizes(d=8, k=k, r=4), CPU)(torch.ones(5, 8))
    assert result.shape == (5, 8)
    assert result.isfinite().all()


def test_every_layer_is_timed_at_every_length() -> None:
    threads, state = torch.get_num_threads(), torch.get_rng_state()
    measured = measure(Sizes(d=16, k=3, r=4), CPU, lengths=(4, 8), budget=60)
    assert list(measured.times) == list(BY_NAME)
    for timings in measured.times.values():
        assert [timing.n for timing in timings] == [4, 8]
        assert all(timing.ms > 0 and timing.runs >= 3 for timing in timings)
    assert (measured.device, measured.threads) == ("cpu", torch.get_num_threads())
    assert torch.get_num_threads() == threads
    assert torch.equal(torch.get_rng_state(), state)


def test_lengths_that_do_not_fit_are_left_out() -> None:
    measured = measure(Sizes(d=16, k=3, r=4), CPU, lengths=(4, 8), budget=0)
    for name in BY_NAME:
        assert [timing.n for timing in measured.times[name]] == [4]
        assert measured.at(name, 8) is None
