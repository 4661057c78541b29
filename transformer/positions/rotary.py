"""Rotary positions: queries and keys turn with their place, pair by pair (RoFormer).

A score then only depends on the distance between key and query: (R_m q) · (R_n k) = q · R_(n - m) k
(Su et al. 2021, section 3.2).
"""

import math
from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True, eq=False)
class Rotary:
    """The turning of the queries and keys of some layers of one kind."""

    kind: str
    layers: tuple[int, ...]
    frequencies: Tensor
    """[R/2] theta_i, radians that a pair of dimensions turns from one position to the next."""
    d_head: int
    """Dimensions of a query, of which R turn."""
    factor: float = 1.0
    """The factor on rotated queries and keys; 1 except for some long contexts (YaRN)."""

    @property
    def n_turning(self) -> int:
        return 2 * self.frequencies.numel()

    @property
    def wavelengths(self) -> Tensor:
        """[R/2] positions in a full turn, 2 pi / theta_i; infinite for a pair that stands still."""
        return 2 * math.pi / self.frequencies.double().cpu()


def decay(rotary: Rotary, distances: Tensor) -> Tensor:
    """q · R(distance) k for q = k = 1, as a share of its value at distance 0: [N] -> [N].

    A pair gives 2 cos(distance theta_i), a dimension that does not turn 1 (Su et al. 2021, 3.4.3).
    """
    turned = _angles(rotary, distances).cos().sum(-1) * 2 * rotary.factor**2
    still = rotary.d_head - rotary.n_turning
    return (turned + still) / (rotary.n_turning * rotary.factor**2 + still)


def bound(rotary: Rotary, distances: Tensor) -> Tensor:
    """The bound that holds for any q and k, as a share of its value at distance 0: [N] -> [N].

    mean_j |S_j| with S_j = sum_(i < j) e^(i distance theta_i), j = 1 .. R/2: what turning leaves of
    |q · R k| is at most this, up to a factor of q and k (Su et al. 2021, equation 37 and figure 2).
    """
    angles = _angles(rotary, distances)
    sums = torch.polar(torch.ones_like(angles), angles).cumsum(-1)  # [N, R/2]
    return sums.abs().mean(-1) / ((angles.size(-1) + 1) / 2)


def _angles(rotary: Rotary, distances: Tensor) -> Tensor:
    """[N, R/2] in double precision: far positions times fast pairs are large angles."""
    return distances.double()[:, None] * rotary.frequencies.double().cpu()
