"""The loss of a training step: smoothed cross-entropy, over all pieces or over some of them.

Its gradient, softmax minus smoothed target, is worked out together with the loss: autograd would
walk over the [N, V] logits seven times, and the projection to the pieces is the largest product of
a small model. So training may read only some pieces: the commonest, the batch's own, and others
drawn at random, which stand for all the rest (Jean et al. 2015, section 3): each drawn one counts
as often as there are pieces for it to stand for, so that the sum under the softmax is right on
average.
"""

import math
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.autograd import Function

from transformer.training.batches import IGNORED
from transformer.training.step.randomness import generator

ROWS = 64
"""Predictions are filled up to a multiple of it: of products of a new shape a CPU's library first
writes the code, a tenth of a step's time when each batch has another one."""


def smoothed_loss(logits: Tensor, targets: Tensor, epsilon: float) -> Tensor:
    """Mean cross-entropy in nats: logits [N, V], targets [N] -> []; IGNORED targets count nothing.

    As `torch.nn.functional.cross_entropy(..., label_smoothing=epsilon)`.
    """
    real = targets.ne(IGNORED)
    if not bool(real.all()):
        logits, targets = logits[real], targets[real]
    return _loss(logits.float(), targets, epsilon, None)


def sampled_loss(
    states: Tensor, embedding: Tensor, targets: Tensor, epsilon: float, n_pieces: int
) -> Tensor:
    """The same, estimated: states [N, D] meet n_pieces rows or more of the embedding [V, D]."""
    real = targets.ne(IGNORED)
    states, targets = states[real], targets[real]
    filled = F.pad(states, (0, 0, 0, -len(states) % ROWS))
    pieces, log_counts = chosen_pieces(targets, len(embedding), n_pieces)
    place = torch.full((len(embedding),), -1, device=targets.device)
    place[pieces] = torch.arange(len(pieces), device=targets.device)
    logits = (filled @ embedding[pieces].t())[: len(states)]
    return _loss(logits.float(), place[targets], epsilon, log_counts)


def chosen_pieces(targets: Tensor, vocab_size: int, n_pieces: int) -> tuple[Tensor, Tensor]:
    """The pieces that a batch is judged by, and the log of how many each stands for: [n], [n].

    Half of n_pieces are the first ones, which are the commonest; the targets come next; what is
    left of n_pieces, at least an eighth, is drawn from the rest.
    """
    mask = torch.zeros(vocab_size, dtype=torch.bool, device=targets.device)
    mask[: n_pieces // 2] = True
    mask[targets] = True
    rest = (~mask).nonzero().flatten()
    certain = mask.nonzero().flatten()
    order = torch.randperm(len(rest), device=rest.device, generator=generator())
    drawn = rest[order[: max(n_pieces - len(certain), n_pieces // 8)]]
    pieces = torch.cat([certain, drawn])
    log_counts = torch.zeros(len(pieces), device=targets.device)
    if len(drawn):
        log_counts[-len(drawn) :] = math.log(len(rest) / len(drawn))
    return pieces, log_counts


def _loss(logits: Tensor, targets: Tensor, epsilon: float, log_counts: Tensor | None) -> Tensor:
    loss: Tensor = _SmoothedLoss.apply(logits, targets, epsilon, log_counts)  # type: ignore[no-untyped-call]
    return loss


class _SmoothedLoss(Function):
    """Keeps the gradient, not the logits."""

    @staticmethod
    def forward(
        ctx: Any, logits: Tensor, targets: Tensor, epsilon: float, log_counts: Tensor | None
    ) -> Tensor:
        counts = logits.new_ones(logits.size(1)) if log_counts is None else log_counts.exp()
        spread = epsilon * counts / counts.sum()  # [V]: the smoothed part of the target
        counted = logits if log_counts is None else logits + log_counts
        log_sum = counted.logsumexp(-1, keepdim=True)
        of_target = logits.gather(1, targets[:, None])
        loss = (log_sum - (1 - epsilon) * of_target - logits @ spread[:, None]).mean()
        gradient = (counted - log_sum).exp_().sub_(spread)
        gradient.scatter_add_(1, targets[:, None], gradient.new_full(of_target.shape, epsilon - 1))
        ctx.save_for_backward(gradient.div_(len(targets)))
        return loss

    @staticmethod
    def backward(ctx: Any, *outer: Tensor) -> tuple[Tensor, None, None, None]:
        (gradient,) = ctx.saved_tensors
        return gradient * outer[0], None, None, None
