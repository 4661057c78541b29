"""Rows of attention with the least divergence from the model's own that make a token the top one.

Where the gap between its logit and the others has the gradient g_h in the weights of head h, they
are w_h = softmax(log p_h + mu g_h), with one mu for all heads.
"""

from collections.abc import Callable, Mapping

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from transformer.analysis.row_pass import Head, RowPass

STEPS = 48
"""Times that the gradient is taken."""
HALVINGS = 12
"""The halvings of the way back to the model's own rows."""
MARGIN = 0.01
"""The least lead of the logit over all others: more than rounding the rows takes away."""
SHARPEST = 30.0
"""The most by which log weights of a row are drawn apart."""
PACE = 3
"""Steps after which each gradient counts half of what it does at first."""
STILL = 1e-4
"""Weights that change by less from step to step are found."""
SMOOTH = 0.1
"""Logits by which others count that are almost as large as the largest."""


class RowSearch:
    """Rows with the least divergence that make a token the most probable one."""

    def __init__(
        self,
        step: RowPass,
        token_id: int,
        on_step: Callable[[], object] | None,
        margin: float = MARGIN,
    ) -> None:
        """margin: the lead over all other tokens that is asked for, in logits."""
        self._step, self._id, self._on_step, self._margin = step, token_id, on_step, margin
        self.largest_gap = -torch.inf
        self.is_enough = False

    def rows(self, plain: Mapping[Head, Tensor]) -> dict[Head, Tensor]:
        """plain: log weights [K], -inf where closed -> weights; the last, where none suffice."""
        log_p = pad_sequence([*plain.values()], batch_first=True, padding_value=-torch.inf)
        lengths = {head: len(row) for head, row in plain.items()}
        rows = log_p.exp()  # [N, K]
        best, least, self.is_enough = rows, torch.inf, False
        cut, slopes = 0.0, torch.zeros_like(rows)
        for i in range(STEPS):
            gap, smooth, slope = self._slopes(rows, lengths)
            if gap >= self._margin and divergence(log_p, rows) < least:
                best, least, self.is_enough = rows, divergence(log_p, rows), True
            # What gradients at several rows say together, where two other tokens take turns.
            pace = 1 / (1 + i / PACE)
            cut += pace * (smooth - float((slope * rows).sum()) - cut)
            slopes = slopes + pace * (slope - slopes)
            before, rows = rows, _least(log_p, slopes, self._margin + MARGIN - cut)
            if self.is_enough and float((rows - before).abs().max()) < STILL:
                break
        if not self.is_enough:
            best = rows
        low, high = 0.0, 1.0
        for _ in range(HALVINGS * self.is_enough):
            middle = (low + high) / 2
            part = _between(log_p, best, middle)
            with torch.no_grad():
                is_feasible = gap_of(self._run(part.float(), lengths), self._id) >= self._margin
            low, high = (low, middle) if is_feasible else (middle, high)
        best = _between(log_p, best, high)
        return {head: best[i, :length] for i, (head, length) in enumerate(lengths.items())}

    def _slopes(self, rows: Tensor, lengths: Mapping[Head, int]) -> tuple[float, float, Tensor]:
        """The gap, the same to a smooth maximum of the others, and its gradient by weights."""
        with torch.inference_mode(False), torch.enable_grad():
            leaf = rows.float().requires_grad_()
            logits = self._run(leaf, lengths)
            others = SMOOTH * (_others(logits, self._id) / SMOOTH).logsumexp(0)
            smooth = logits[self._id] - others
            (slopes,) = torch.autograd.grad(smooth, [leaf])
        gap = gap_of(logits.detach(), self._id)
        self.largest_gap = max(self.largest_gap, gap)
        return gap, float(smooth.detach()), slopes.double()

    def _run(self, rows: Tensor, lengths: Mapping[Head, int]) -> Tensor:
        if self._on_step is not None:
            self._on_step()
        forced = {head: rows[i, :length] for i, (head, length) in enumerate(lengths.items())}
        return self._step.logits(forced).cpu()


def _between(log_p: Tensor, rows: Tensor, part: float) -> Tensor:
    """From p [N, K] (0) to rows (1), evenly in logarithms."""
    both = (1 - part) * log_p + part * rows.log()
    return both.masked_fill(log_p.isinf(), -torch.inf).softmax(-1)


def divergence(log_p: Tensor, rows: Tensor) -> float:
    """Sum over rows of KL(row || p) in nats."""
    return float(torch.where(rows > 0, rows * (rows.log() - log_p), 0.0).sum())


def _least(log_p: Tensor, slopes: Tensor, wanted: float) -> Tensor:
    """Rows [N, K] with the least divergence and sum(slopes * rows) as wanted, or the most there is.

    They are softmax(log p + mu slopes), where mu is found by halving.
    """
    is_open = log_p.isfinite()
    largest = slopes.masked_fill(~is_open, -torch.inf).amax(-1)
    smallest = slopes.masked_fill(~is_open, torch.inf).amin(-1)
    low, high = 0.0, SHARPEST / max(float((largest - smallest).max()), 1e-9)
    for _ in range(40):
        middle = (low + high) / 2
        is_much = float(((log_p + middle * slopes).softmax(-1) * slopes).sum()) >= wanted
        low, high = (low, middle) if is_much else (middle, high)
    return (log_p + high * slopes).softmax(-1)


def gap_of(logits: Tensor, token_id: int) -> float:
    """The token's logit less the largest other one. logits: [V]."""
    return float(logits[token_id] - _others(logits, token_id).max())


def _others(logits: Tensor, token_id: int) -> Tensor:
    return torch.cat([logits[:token_id], logits[token_id + 1 :]])
