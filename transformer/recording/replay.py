"""Replay of what stands between a projection and attention: another type, a factor, a norm.

Heads are compared by their directions, since a norm's size says nothing; each of them with all
numbers of a projected row that follow each other, as they are and as a norm leaves them.
"""

from collections.abc import Iterable, Iterator
from math import gcd

import torch
from torch import Tensor

from transformer.recording.trace import Norm

_APART = {torch.float64: 2e-3, torch.float32: 2e-3, torch.float16: 5e-3, torch.bfloat16: 0.02}
"""The largest sine between heads that are the same, by the type that they were computed in."""
_CHANCE = 1e-6
"""The largest chance that heads agree which have nothing to do with each other."""


def parts_of(row: Tensor, width: int) -> Tensor:
    """Cut a row [n] into all that may be a head [N, d]: neighbours, or every n / d-th number."""
    if len(row) < width:
        return row.new_zeros(0, width)
    parts = row.unfold(0, width, gcd(len(row), width))
    return parts if len(row) % width else torch.cat([parts, row.view(width, -1).mT])


def normed(row: Tensor, width: int, norms: Iterable[Norm]) -> Iterator[Tensor]:
    """Yield such parts [N, d] after norms: of each head, or of the row as a whole."""
    if len(row) < width:
        return
    parts = parts_of(row, width)
    yield parts - parts.mean(-1, keepdim=True)
    for norm in norms:
        if norm.weight.numel() == width:
            yield from _after(norm, parts)
        if norm.weight.numel() == len(row):
            yield from (parts_of(whole[0], width) for whole in _after(norm, row[None]))
            if len(row) % width == 0:  # heads by themselves, each with weights of its own
                yield from _after(norm, row.view(-1, width))


def _after(norm: Norm, rows: Tensor) -> Iterator[Tensor]:
    """Yield rows [N, n] as a norm leaves them but for their size; its weights lie around 1 or 0."""
    weight = norm.weight.detach().to(rows.dtype).reshape(-1, rows.size(-1))
    bias = None if norm.bias is None else norm.bias.detach().to(rows.dtype).view_as(weight)
    centred = rows - rows.mean(-1, keepdim=True)
    deviation = centred.square().mean(-1, keepdim=True).sqrt().clamp_min(1e-30)
    yield rows + weight  # it is no norm's: XLNet adds such a one to queries
    for factor in (weight, 1 + weight):
        yield rows * factor
        yield centred * factor if bias is None else centred / deviation * factor + bias


def are_along(heads: Tensor, parts: Tensor, types: Iterable[torch.dtype]) -> Tensor:
    """Find the positions of heads [N, H, d] of which each has the direction of a part [n, d].

    types: of all that they were computed with. bool [N]; all False where chance may do it.
    """
    apart = max(_APART.get(each, 1.0) for each in types)
    n_heads, width = heads.shape[1:]
    if not len(parts) or (len(parts) * apart ** (width - 1)) ** n_heads > _CHANCE:
        return heads.new_zeros(len(heads), dtype=torch.bool)
    lengths = heads.norm(dim=-1)
    units = parts / parts.norm(dim=-1, keepdim=True).clamp_min(1e-30)
    cosines = (heads @ units.mT).amax(-1) / lengths.clamp_min(1e-30)  # [N, H]
    return ((cosines >= (1 - apart**2) ** 0.5) & (lengths > 0)).all(-1)
