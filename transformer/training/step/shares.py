"""A batch's gradients by several threads of a CPU, each with some of the batch's rows.

A small model's products are too small to be divided. Of the time that one thread takes for a step
of 6,000 tokens, two that divide each product take .93, two with half of the rows each .69
(bfloat16, two cores; `python -m tests.bench training`).
"""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import torch
from torch import Tensor

from transformer.training.batches import Batch
from transformer.training.step.randomness import seeded

LEAST = 2500
"""Tokens of a share: with fewer, the threads wait for each other to give their next order."""
Loss = Callable[[Batch], Tensor]
Gradients = list[Tensor | None]
"""One for each weight, None of a weight that the loss does not ask."""


class Shares:
    """Threads that wait for their share of the next batch."""

    def __init__(self, n_threads: int) -> None:
        self.n_threads = n_threads
        self.pool: ThreadPoolExecutor | None = None

    def gradients(
        self, loss: Loss, weights: Sequence[Tensor], batch: Batch
    ) -> tuple[Tensor, Gradients]:
        """The loss of a batch [] and its gradients, as if its rows had been taken together.

        loss: the mean over the predictions of the rows that it is given.
        """
        parts = self._parts(batch)
        if len(parts) == 1:
            return _share(loss, weights, parts[0], 1.0)
        seeds = torch.randint(1 << 62, (len(parts),)).tolist()

        def work(part: Batch, seed: int) -> tuple[Tensor, Gradients]:
            with seeded(seed):
                return _share(loss, weights, part, part.n_targets / batch.n_targets)

        losses, gradients = zip(*self._threads().map(work, parts, seeds), strict=True)
        return torch.stack(losses).sum(), [_sum(each) for each in zip(*gradients, strict=True)]

    def _parts(self, batch: Batch) -> list[Batch]:
        n = max(1, min(self.n_threads, batch.n_tokens // LEAST, len(batch.target_output)))
        targets = batch.target_output.tensor_split(n)
        inputs = zip(*(ids.tensor_split(n) for ids in batch.inputs), strict=True)
        parts = [Batch(*part) for part in zip(inputs, targets, strict=True)]
        return [part for part in parts if part.n_targets] or [batch]  # of nothing there is no mean

    def _threads(self) -> ThreadPoolExecutor:
        if self.pool is None:
            here, started = torch.get_num_threads(), Barrier(self.n_threads)
            self.pool = ThreadPoolExecutor(self.n_threads, "share", initializer=_alone)
            list(self.pool.map(lambda _: started.wait(), range(self.n_threads)))
            torch.set_num_threads(here)  # for threads that others start: the last setting counts
        return self.pool


def _alone() -> None:
    torch.get_num_threads()  # a thread's first question sets its number, and would so later
    torch.set_num_threads(1)


def _share(
    loss: Loss, weights: Sequence[Tensor], batch: Batch, share: float
) -> tuple[Tensor, Gradients]:
    part = loss(batch) * share
    return part.detach(), list(torch.autograd.grad(part, weights, allow_unused=True))


def _sum(gradients: Sequence[Tensor | None]) -> Tensor | None:
    parts = [each.float() for each in gradients if each is not None]
    return torch.stack(parts).sum(0) if parts else None
