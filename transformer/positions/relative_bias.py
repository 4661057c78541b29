"""A model's addend to its scores for the places of query and key, as a function of distance.

T5 learns a number for each head and (bucketed) distance (Raffel et al. 2020, section 2.1); ALiBi
lowers scores in proportion to the distance (Press et al. 2022). Nothing here knows which of them
it looks at: both are found in the numbers.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from transformer.field_docs import fields_in_help
from transformer.in_a_line import in_a_line

EXACT = 1e-5
"""The largest gap of values of one distance, as a share of the largest: float32's rounding."""
STRAIGHT = 0.01
"""The largest gap to a line, as a share of the range: some models round ALiBi to bfloat16."""


@fields_in_help
@dataclass(frozen=True, eq=False)
@in_a_line
class ByDistance:
    """Values of cells [H, Q, K], gathered by the distance key - query."""

    distances: Tensor
    """[N] whole numbers, ascending: those that some query may look at."""
    mean: Tensor
    """[H, N]"""
    low: Tensor
    """[H, N] the least value of this distance."""
    high: Tensor
    """[H, N]"""
    count: Tensor
    """[H, N] how many cells the mean is over."""

    @property
    def spread(self) -> float:
        """The largest difference between two values of one head and distance."""
        return float((self.high - self.low).amax())


@fields_in_help
@dataclass(frozen=True, eq=False)
@in_a_line
class RelativeBias:
    """The bias that layers of one kind share and add to their scores."""

    kind: str
    layers: tuple[int, ...]
    """The layers that share it, from 0."""
    bias: Tensor
    """[1 or H, 1 or Q, K]"""
    allowed: Tensor
    """bool [H, Q, K]"""

    @property
    def n_heads(self) -> int:
        return self.allowed.size(0)

    @cached_property
    def from_own(self) -> bool:
        """Tell whether it is a function of distance once each row is measured from its own cell.

        A number added to a whole row changes no weight: BLOOM's and MPT's ALiBi is written so.
        """
        as_it_is, measured = self._measured
        return not self._is_exact(as_it_is) and self._is_exact(measured)

    @cached_property
    def by_distance(self) -> ByDistance:
        as_it_is, measured = self._measured
        return measured if self.from_own else as_it_is

    @property
    def is_of_distance(self) -> bool:
        """Tell whether all cells of one distance have one value, up to float32's rounding."""
        return self._is_exact(self.by_distance)

    @cached_property
    def slopes(self) -> Tensor | None:
        """[H] m > 0 of bias = c - m |key - query|, by least squares; None where it is not so."""
        return _slopes(self.by_distance)

    @cached_property
    def _measured(self) -> tuple[ByDistance, ByDistance]:
        """Measure it as it is, and from the query's own cell where it may read that: no padding."""
        bias = self.bias.detach().float().cpu().expand(self.allowed.shape)
        allowed = self.allowed.cpu()
        _, n_queries, n_keys = bias.shape
        own = torch.arange(n_queries) + n_keys - n_queries  # queries are the last of the keys
        rows = own.clamp_min(0)[None, :, None].expand(bias.size(0), -1, 1)
        real = allowed & allowed.gather(-1, rows)
        as_it_is = by_distance(bias, allowed)
        if not bool(real.any()):
            return as_it_is, as_it_is
        return as_it_is, by_distance(bias - bias.gather(-1, rows), real)

    def _is_exact(self, bias: ByDistance) -> bool:
        return bias.spread <= EXACT * float(self.bias.abs().amax())


def by_distance(values: Tensor, allowed: Tensor) -> ByDistance:
    """Gather values [H, Q, K] where bool [H, Q, K] allows; queries are the last of the keys."""
    n_heads, n_queries, n_keys = values.shape
    places = torch.arange(n_queries) + n_keys - n_queries
    distance = torch.arange(n_keys) - places[:, None]  # [Q, K]
    least = int(distance.min())
    index = (distance - least).expand_as(values).flatten(1)
    n = int(distance.max()) - least + 1

    def gathered(of: Tensor, how: str, start: float) -> Tensor:
        result = torch.full((n_heads, n), start, dtype=of.dtype)
        return result.scatter_reduce_(1, index, of.flatten(1), how)

    counts = gathered(allowed.double(), "sum", 0.0)
    sums = gathered(values.double().masked_fill(~allowed, 0.0), "sum", 0.0)
    low = gathered(values.masked_fill(~allowed, torch.inf), "amin", torch.inf)
    high = gathered(values.masked_fill(~allowed, -torch.inf), "amax", -torch.inf)
    seen = (counts > 0).all(0)
    mean = (sums / counts).float()
    # A mean of equal numbers may round away from them.
    mean = torch.minimum(torch.maximum(mean, low), high)
    of_all = torch.arange(n) + least, mean, low, high, counts.long()
    return ByDistance(*(each[..., seen] for each in of_all))


def _slopes(bias: ByDistance) -> Tensor | None:
    x = -bias.distances.abs().double()
    if x.unique().numel() < 3:  # a line goes through any two
        return None
    y = bias.mean.double()
    centred = x - x.mean()
    slopes = (y * centred).sum(-1) / centred.square().sum()
    off = y - y.mean(-1, keepdim=True) - slopes[:, None] * centred
    reach = y.amax(-1) - y.amin(-1)
    if bool((off.abs().amax(-1) > STRAIGHT * reach).any()) or not bool((slopes > 0).all()):
        return None
    return slopes.float()


def paper_slopes(n_heads: int) -> Tensor:
    """ALiBi's slopes as published: 2 ** (-8 h / H) for h = 1 .. H (Press et al. 2022, section 3).

    Where H is not a power of 2, those of the next lower power and then every second one of
    twice it, as the authors' own code has it.
    """
    power = 1 << (n_heads.bit_length() - 1)
    slopes = [2 ** (-8 * (h + 1) / power) for h in range(power)]
    slopes += [2 ** (-8 * (h + 1) / (2 * power)) for h in range(0, 2 * power, 2)]
    return torch.tensor(slopes[:n_heads])


def shared(biases: Sequence[Tensor | None]) -> list[tuple[tuple[int, ...], Tensor]]:
    """Layers with the same bias and that bias, in the order of the first of them."""
    groups: list[tuple[list[int], Tensor]] = []
    for layer, bias in enumerate(biases):
        if bias is None:
            continue
        for layers, group in groups:
            if group is bias or (group.shape == bias.shape and torch.equal(group, bias)):
                layers.append(layer)
                break
        else:
            groups.append(([layer], bias))
    return [(tuple(layers), bias) for layers, bias in groups]
