"""Masks of all sorts: which cells they close, and what else they add to the scores.

-inf and False close a cell. A finite number stays what it is, something that is added: a cell that
it covers is closed only where the softmax gave exactly 0.
"""

from dataclasses import dataclass, replace
from functools import cached_property

import torch
from torch import Tensor

from transformer.recording import AttentionCall

FAR = 80.0
"""exp(-80) is 2e-35: scores that lie so far below others are a mask's, if none are in between."""
_USUAL = -5000.0
"""Most finite masks go below (-10,000, -1e9), whatever biases are added beside them."""
_GONE = 110.0
"""exp(-110) is 0 in float32."""


@dataclass(frozen=True, eq=False)
class Split:
    """A mask's parts, each [1 or H, 1 or Q, K]; None where there is nothing of it."""

    open: Tensor | None = None
    """bool, False where it is -inf or False."""
    bias: Tensor | None = None
    """The addend of scores beside masking."""
    low: Tensor | None = None
    """The addend of the cells that it covers with finite numbers; 0 elsewhere."""

    @cached_property
    def uncovered(self) -> Tensor | None:
        """bool: the cells that it neither closes nor covers."""
        if self.low is None:
            return self.open
        return self.low == 0 if self.open is None else (self.low == 0) & self.open


OPEN = Split()


def split(mask: Tensor) -> Split:
    """The parts of a mask: True is open in one of bools; another is added to the scores."""
    if mask.dtype == torch.bool:
        return OPEN if bool(mask.all()) else Split(mask)
    mask = mask.detach()
    least = float(mask.amin()) if mask.numel() else 0.0
    if not least <= -FAR:
        return Split(bias=mask) if bool(mask.any()) else OPEN
    closed, covered = mask == -torch.inf, _covered(mask)
    rest = mask.masked_fill(closed | covered, 0.0)
    return Split(
        open=~closed if least == -torch.inf else None,
        bias=rest if bool(rest.any()) else None,
        low=mask.masked_fill(~covered, 0.0) if bool(covered.any()) else None,
    )


def _covered(mask: Tensor) -> Tensor:
    """Find the finite numbers that are a mask's: far below, and nothing in between."""
    finite = mask > -torch.inf
    covered = finite & (mask <= _USUAL)
    rest = finite & ~covered
    weak = rest & (mask <= -FAR)
    if bool(weak.any()):
        others = mask[rest & ~weak]
        if others.numel() and float(others.amin() - mask[weak].amax()) > FAR / 2:
            return covered | weak
    return covered


def masked(call: AttentionCall, low: Tensor | None) -> AttentionCall:
    """A call with what a finite mask adds.

    Where no score can outweigh that, and each row has another key, the cells are simply closed.
    """
    if low is None:
        return call
    covered = low < 0
    is_left = (call.allowed() & ~covered).any(-1)
    if bool(is_left.all()) and float(low[covered].amax()) < -2 * _reach(call) - _GONE:
        return replace(call, mask=~covered if call.mask is None else call.mask & ~covered)
    return replace(call, low=low)


def _reach(call: AttentionCall) -> float:
    """No score is further from 0."""
    of_product = float(call.q.float().norm(dim=-1).amax() * call.k.float().norm(dim=-1).amax())
    of_bias = 0.0 if call.bias is None else float(call.bias.abs().amax())
    return of_product * abs(call.scale) + of_bias


def covered_by_scores(scores: Tensor) -> Tensor | None:
    """Find the cells that a mask has closed or covered, by scores [..., Q, K] alone; None: no cell.

    They hold -inf, or a number that was put there: far below others, and one for several cells. Low
    scores alone tell nothing.
    """
    scores = scores.detach()
    if not float(scores.amin()) <= -FAR / 2:  # nothing is that low
        return None
    covered = scores == -torch.inf
    rest = (scores <= scores.amax(-1, keepdim=True) - FAR) & ~covered
    for _ in range(_FILLS):
        if not bool(rest.any()):
            break
        number = scores.masked_fill(~rest, torch.inf).amin()
        filled = scores == number
        if not _is_fill(float(number), int(filled.sum())):
            break
        covered, rest = covered | filled, rest & ~filled
    return covered if bool(covered.any()) else None


_FILLS = 3
"""Numbers that masks put into scores: one for causality and one for padding in most code."""


def _is_fill(number: float, n_cells: int) -> bool:
    """Tell whether a mask has put a number there.

    Products of activations are hardly ever equal, but for a pair of cells where queries are keys.
    """
    is_round = number.is_integer() and (number > _ROUND or number < -1e9)
    return is_round or n_cells > 2


_ROUND = -(2.0**22)
"""From here on float32 has few numbers that are not whole."""
