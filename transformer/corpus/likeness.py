"""Likeness of heads: distances between their footprints, and a map of them in a plane.

The distance is the root of the Jensen-Shannon divergence in nats, which is a metric (Endres and
Schindelin 2003); Clark et al. (2019) give the divergence itself to the map. Footprints of two kinds
of attention have other bins, so that heads are compared within a kind.
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from transformer.corpus.surveyed import HeadSummary

MOST_STEPS, LEAST_GAIN = 300, 1e-7
"""Steps of the map at most, and the share of its error below which another one gains nothing."""


def distances(heads: Sequence[HeadSummary]) -> Tensor:
    """The distances of N heads of one kind: float64 [N, N], between 0 and sqrt(log 2) = .833.

    Raises ValueError for footprints of different lengths.
    """
    shares = torch.tensor([each.footprint for each in heads], dtype=torch.float64)
    shares = shares / shares.sum(-1, keepdim=True).clamp_min(1e-300)
    first, second = shares[:, None], shares[None]
    middle = (first + second) / 2
    to_middle = torch.special.xlogy(first, first / middle.clamp_min(1e-300)).sum(-1)
    # What rounding leaves of 0 would be 1e-8 in its root.
    divergence = ((to_middle + to_middle.T) / 2).clamp_min(0)
    divergence[divergence < 1e-14] = 0
    return divergence.sqrt()


def layout(distances: Tensor) -> tuple[Tensor, float]:
    """Places [N, 2] whose distances are as near to these [N, N] as a plane allows, and the stress.

    Classical scaling begins (Torgerson 1952), and SMACOF improves it (de Leeuw 1977). The stress is
    Kruskal's first one (1964): the root of the squared errors over the squared distances; 0 where
    all distances are true. The axes are the principal ones; each one's largest place is positive.
    """
    n = len(distances)
    places = _classical(distances)
    error = _error(places, distances)
    for _ in range(MOST_STEPS):
        between = torch.cdist(places, places)
        ratio = torch.where(between > 0, distances / between.clamp_min(1e-300), 0.0)
        matrix = -ratio
        matrix.diagonal().copy_(ratio.sum(-1) - ratio.diagonal())
        places = matrix @ places / max(1, n)
        now = _error(places, distances)
        if error - now <= LEAST_GAIN * max(error, 1e-300):
            break
        error = now
    whole = float((distances**2).sum())
    stress: float = (_error(places, distances) / whole) ** 0.5 if whole else 0.0
    return _turned(places), stress


def _classical(distances: Tensor) -> Tensor:
    n = len(distances)
    centre = torch.eye(n, dtype=distances.dtype) - 1 / max(1, n)
    values, vectors = torch.linalg.eigh(-0.5 * centre @ distances**2 @ centre)
    places = torch.zeros(n, 2, dtype=distances.dtype)
    principal = (vectors * values.clamp_min(0).sqrt()).flip(1)[:, :2]
    places[:, : principal.size(1)] = principal
    return places


def _error(places: Tensor, distances: Tensor) -> float:
    return float(((torch.cdist(places, places) - distances) ** 2).sum())


def _turned(places: Tensor) -> Tensor:
    """Turn places so that most of them lies along the first axis, always the same way round."""
    centred = places - places.mean(0)
    _, _, axes = torch.linalg.svd(centred, full_matrices=False)
    turned = torch.zeros_like(places)
    turned[:, : len(axes)] = centred @ axes.T
    largest = turned.gather(0, turned.abs().argmax(0, keepdim=True))
    return turned * torch.where(largest < 0, -1.0, 1.0)
