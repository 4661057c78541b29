"""Positional encodings, measured by themselves (AIAYN, section 3.5), and rotary ones."""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from transformer.field_docs import fields_in_help
from transformer.in_a_line import in_a_line

# Positional encodings, measured by themselves (AIAYN, section 3.5).
#
# Nothing here knows the formula that made them. A sinusoidal encoding consists of pairs of
# dimensions (sine, cosine) that turn together; which dimensions are a pair is found by looking
# for pairs that keep their length. Learned embeddings have no such pairs, and the answer is None.

TOLERANCE = 0.02
"""The most a pair's length may vary, as a share of it: above half precision's rounding."""


@dataclass(frozen=True, eq=False)
@in_a_line
class Pairs:
    """The planes in which an encoding turns."""

    sines: Tensor
    """[D/2] the dimensions that lead, by their numbers."""
    cosines: Tensor
    """[D/2] their partners."""
    steps: Tensor
    """[D/2] how far each pair turns from one position to the next, in radians."""

    @property
    def wavelengths(self) -> Tensor:
        """[D/2] positions in a full turn."""
        return 2 * math.pi / self.steps.abs()


@dataclass(frozen=True, eq=False)
@in_a_line
class Shift:
    """The linear map that turns PE(pos) into PE(pos + offset): one rotation a pair."""

    offset: int
    pairs: Pairs
    angles: Tensor
    """[D/2] the rotation of each pair, in radians, from -pi to pi."""
    matrix: Tensor
    """[D, D] R with PE(pos + offset) = R PE(pos); block-diagonal in the pairs."""
    error: float
    """The largest |R PE(pos) - PE(pos + offset)| over all positions and dimensions."""


def find_pairs(table: Tensor) -> Pairs | None:
    """The pairs of a table [P, D] of encodings; None where it is not sinusoidal.

    Two layouts are in use: neighbours (sine, cosine, sine, ...: AIAYN) and halves (all sines, then
    all cosines: tensor2tensor, Marian). The one whose pairs keep their length is taken.
    """
    n_positions, d_model = table.shape
    if n_positions < 2 or d_model % 2:
        return None
    dims = torch.arange(d_model)
    layouts = ((dims[0::2], dims[1::2]), (dims[: d_model // 2], dims[d_model // 2 :]))
    for sines, cosines in layouts:
        turning = _turning(table, sines, cosines)  # [P, D/2]
        lengths = turning.abs()
        if bool(((lengths.amax(0) - lengths.amin(0)) <= TOLERANCE * lengths.amax(0)).all()):
            return Pairs(sines, cosines, _angles(turning, 1))
    return None


def wavelengths(table: Tensor) -> Tensor:
    """Positions in a full turn of each dimension of a table: [P, D] -> [D].

    NaN where the table is not sinusoidal. Waves longer than the table are still exact, since they
    are measured by the phase from position to position.
    """
    result = torch.full((table.size(1),), torch.nan, dtype=torch.float64)
    pairs = find_pairs(table)
    if pairs is not None:
        result[pairs.sines] = result[pairs.cosines] = pairs.wavelengths
    return result


def shift(table: Tensor, offset: int) -> Shift | None:
    """The rotation from PE(pos) to PE(pos + offset), by least squares over all pos of [P, D].

    None where the table is not sinusoidal. Raises ValueError unless 0 <= offset < P.
    """
    if not 0 <= offset < table.size(0):
        raise ValueError(f"offset {offset} is not below the {table.size(0)} positions.")
    pairs = find_pairs(table)
    if pairs is None:
        return None
    angles = _angles(_turning(table, pairs.sines, pairs.cosines), offset)
    matrix = _rotation(angles, pairs)
    table = table.double().cpu()
    n = table.size(0) - offset
    error = float((table[:n] @ matrix.mT - table[offset:]).abs().amax())
    return Shift(offset, pairs, angles, matrix, error)


def similarity(table: Tensor, normalised: bool = False) -> Tensor:
    """PE . PE^T between positions: [P, D] -> [P, P]; normalised: the cosine of the angle."""
    table = table.float()
    if normalised:
        table = torch.nn.functional.normalize(table, dim=-1)
    return table @ table.mT


def _turning(table: Tensor, sines: Tensor, cosines: Tensor) -> Tensor:
    """Each pair as one complex number cos + i sin: [P, D] -> [P, D/2]."""
    table = table.double().cpu()
    return torch.complex(table[:, cosines], table[:, sines])


def _angles(turning: Tensor, offset: int) -> Tensor:
    """The rotation by which positions best fall on those `offset` later: [P, D/2] -> [D/2].

    argmin_a sum_p |e^(ia) z_p - z_(p+offset)|^2 = arg sum_p z_(p+offset) conj(z_p).
    """
    n = turning.size(0) - offset
    return (turning[offset:] * turning[:n].conj()).sum(0).angle()


def _rotation(angles: Tensor, pairs: Pairs) -> Tensor:
    """sin(x + a) = cos(a) sin(x) + sin(a) cos(x), and the like for cos(x + a): [D, D]."""
    d_model = 2 * angles.numel()
    matrix = torch.zeros(d_model, d_model, dtype=torch.float64)
    matrix[pairs.sines, pairs.sines] = matrix[pairs.cosines, pairs.cosines] = angles.cos()
    matrix[pairs.sines, pairs.cosines] = angles.sin()
    matrix[pairs.cosines, pairs.sines] = -angles.sin()
    return matrix


# Rotary positions: queries and keys turn with their place, pair by pair (RoFormer).
#
# A score then only depends on the distance between key and query: (R_m q) · (R_n k) = q · R_(n -
# m) k (Su et al. 2021, section 3.2).


@fields_in_help
@dataclass(frozen=True, eq=False)
@in_a_line
class Rotary:
    """The turning of the queries and keys of some layers of one kind."""

    kind: str
    layers: tuple[int, ...]
    """The layers that turn so, from 0."""
    frequencies: Tensor
    """[R/2] theta_i, radians that a pair of dimensions turns from one position to the next."""
    d_head: int
    """Dimensions of a query, of which R turn."""
    factor: float = 1.0
    """The factor on rotated queries and keys; 1 except for some long contexts (YaRN)."""
    positions: tuple[int, ...] = ()
    """The positions by which the rows turn; empty where each is one more than that before."""

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
    turned = _angles_rotary(rotary, distances).cos().sum(-1) * 2 * rotary.factor**2
    still = rotary.d_head - rotary.n_turning
    return (turned + still) / (rotary.n_turning * rotary.factor**2 + still)


def bound(rotary: Rotary, distances: Tensor) -> Tensor:
    """The bound that holds for any q and k, as a share of its value at distance 0: [N] -> [N].

    mean_j |S_j| with S_j = sum_(i < j) e^(i distance theta_i), j = 1 .. R/2: what turning leaves of
    |q · R k| is at most this, up to a factor of q and k (Su et al. 2021, equation 37 and figure 2).
    """
    angles = _angles_rotary(rotary, distances)
    sums = torch.polar(torch.ones_like(angles), angles).cumsum(-1)  # [N, R/2]
    return sums.abs().mean(-1) / ((angles.size(-1) + 1) / 2)


def _angles_rotary(rotary: Rotary, distances: Tensor) -> Tensor:
    """[N, R/2] in double precision: far positions times fast pairs are large angles."""
    return distances.double()[:, None] * rotary.frequencies.double().cpu()
