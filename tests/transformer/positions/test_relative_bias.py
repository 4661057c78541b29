"""Values by distance against a direct double loop; ALiBi's slopes against the paper's."""

import pytest
import torch

from transformer.positions.relative_bias import RelativeBias, by_distance, paper_slopes, shared


@pytest.mark.parametrize(("n_queries", "n_keys"), [(6, 6), (1, 1), (3, 7), (1, 5)])
def test_by_distance_is_what_a_double_loop_finds(n_queries: int, n_keys: int) -> None:
    generator = torch.Generator().manual_seed(0)
    values = torch.randn(2, n_queries, n_keys, generator=generator)
    allowed = torch.rand(values.shape, generator=generator) < 0.8
    allowed[:, -1, 0] = True
    cells: dict[int, list[list[float]]] = {}
    for head in range(2):
        for i in range(n_queries):
            for j in range(n_keys):
                if allowed[head, i, j]:
                    distance = j - (i + n_keys - n_queries)
                    cells.setdefault(distance, [[], []])[head].append(float(values[head, i, j]))
    both = sorted(distance for distance, heads in cells.items() if all(heads))
    found = by_distance(values, allowed)
    assert found.distances.tolist() == both
    for place, distance in enumerate(both):
        for head, of in enumerate(cells[distance]):
            assert float(found.mean[head, place]) == pytest.approx(sum(of) / len(of), abs=1e-6)
            assert (float(found.low[head, place]), float(found.high[head, place])) == (
                min(of),
                max(of),
            )


def of(bias: torch.Tensor, n_queries: int) -> RelativeBias:
    n_keys = bias.size(-1)
    allowed = torch.ones(bias.size(0), n_queries, n_keys, dtype=torch.bool).tril(n_keys - n_queries)
    return RelativeBias("decoder_self", (0,), bias, allowed)


@pytest.mark.parametrize("n_heads", [1, 2, 8, 16])
def test_published_slopes(n_heads: int) -> None:
    wanted = [2 ** (-8 * h / n_heads) for h in range(1, n_heads + 1)]
    torch.testing.assert_close(paper_slopes(n_heads), torch.tensor(wanted))


@pytest.mark.parametrize("n_heads", [3, 6, 12, 20])
def test_published_slopes_between_powers_are_the_authors(n_heads: int) -> None:
    from transformers.models.bloom.modeling_bloom import _get_alibi_slopes

    wanted = _get_alibi_slopes(n_heads, torch.device("cpu"))
    torch.testing.assert_close(paper_slopes(n_heads), wanted)


@pytest.mark.parametrize("n_queries", [9, 4, 1])
def test_a_line_over_keys_is_measured_from_the_query_s_own_place(n_queries: int) -> None:
    slopes = torch.tensor([0.5, 0.01])
    bias = of(slopes[:, None, None] * torch.arange(-30, -21), n_queries)
    torch.testing.assert_close(bias.slopes, slopes)
    if n_queries > 1:
        assert bias.from_own
        at_own = bias.by_distance.mean[:, bias.by_distance.distances == 0]
        assert not at_own.any()


def test_what_is_no_line_has_no_slope() -> None:
    steps = torch.tensor([[[0.0, -1, -1, -2, -2, -5]]])
    assert of(steps, 1).slopes is None
    assert of(torch.arange(6.0).flip(0)[None, None], 1).slopes is None  # rises with distance
    assert of(torch.tensor([[[1.0, 2.0]]]), 1).slopes is None  # a line goes through any two
    assert of(torch.zeros(1, 1, 6), 6).slopes is None


def test_layers_with_equal_biases_are_one() -> None:
    a, b = torch.zeros(2, 3, 3), torch.ones(2, 3, 3)
    found = shared([a, None, b, a.clone(), b, torch.zeros(2, 1, 3)])
    assert [layers for layers, _ in found] == [(0, 3), (2, 4), (5,)]
