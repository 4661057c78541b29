"""Distances between footprints, and the map of them."""

import math

import pytest
import torch

from transformer.corpus.labels import distances, layout
from transformer.corpus.surveyed import HeadSummary


def head(*footprint: float) -> HeadSummary:
    return HeadSummary("cross", 0, 0, {}, footprint, (), ())


def test_a_distance_is_the_root_of_the_divergence_in_nats() -> None:
    """JS((.7, .2, .1), (.1, .2, .7)) = .25310, worked by hand; of what shares nothing log 2."""
    heads = [head(0.7, 0.2, 0.1), head(0.1, 0.2, 0.7), head(0.0, 0.0, 1.0), head(1.0, 0.0, 0.0)]
    between = distances(heads)
    assert float(between[0, 1] ** 2) == pytest.approx(0.25310, abs=1e-5)
    assert float(between[2, 3]) == pytest.approx(math.sqrt(math.log(2)))
    assert torch.equal(between, between.T) and not between.diagonal().any()


def test_a_footprint_counts_by_its_shape() -> None:
    assert not distances([head(2.0, 1.0, 1.0), head(0.5, 0.25, 0.25)]).any()


def test_places_of_a_plane_come_back_as_they_were() -> None:
    torch.manual_seed(0)
    places = torch.randn(20, 2, dtype=torch.float64)
    between = torch.cdist(places, places)
    found, stress = layout(between)
    assert stress < 1e-4
    torch.testing.assert_close(torch.cdist(found, found), between, atol=1e-3, rtol=0)


def test_what_fits_no_plane_has_stress_and_no_worse_a_map_than_classical_scaling() -> None:
    n = 12
    between = 1 - torch.eye(n, dtype=torch.float64)  # all equally far: n - 1 dimensions
    found, stress = layout(between)
    centre = torch.eye(n, dtype=torch.float64) - 1 / n
    values, vectors = torch.linalg.eigh(-0.5 * centre @ between**2 @ centre)
    classical = (vectors * values.clamp_min(0).sqrt())[:, -2:]
    error = ((torch.cdist(classical, classical) - between) ** 2).sum() / (between**2).sum()
    assert 0.1 < stress < float(error.sqrt())
    assert torch.isfinite(found).all()


@pytest.mark.parametrize("n", [1, 2])
def test_few_heads_have_a_map(n: int) -> None:
    found, stress = layout((1 - torch.eye(n, dtype=torch.float64)) * 0.5)
    assert found.shape == (n, 2) and stress == pytest.approx(0.0, abs=1e-6)
    if n == 2:
        assert float(torch.dist(found[0], found[1])) == pytest.approx(0.5)


def test_the_map_is_the_same_however_often_it_is_made() -> None:
    torch.manual_seed(1)
    between = distances([head(*torch.rand(9).tolist()) for _ in range(8)])
    assert torch.equal(layout(between)[0], layout(between.clone())[0])


def test_the_map_is_the_best_that_scikit_learn_finds() -> None:
    """MDS(metric="precomputed", n_init=400, max_iter=5000, eps=1e-14) of scikit-learn 1.9.1."""
    footprints = [(8 - abs(i - 3), 1 + i, 2 + i * 5 % 7, 1 + i * i % 5) for i in range(8)]
    places, stress = layout(distances([head(*map(float, each)) for each in footprints]))
    assert stress == pytest.approx(0.0789713, abs=1e-6)
    first = [0.0, 0.1239, 0.1158, 0.1803, 0.1858, 0.2575, 0.2770, 0.3485]
    assert torch.cdist(places, places)[0].tolist() == pytest.approx(first, abs=2e-4)
