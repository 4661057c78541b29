"""One step: the loss of a batch, its gradients on all threads, the new weights."""

import math
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext
from copy import deepcopy
from functools import cache
from threading import Barrier, local
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.autograd import Function
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.optim import AdamW

from transformer.device import DeviceError
from transformer.refusal import quoted
from transformer.training.batches import IGNORED, Batch
from transformer.training.task import TrainingConfig

# Random numbers of one thread, which only its seed decides, however threads take turns.

_own = local()


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Within, `generator` gives this thread one of its own."""
    _own.generator = torch.Generator().manual_seed(seed)
    try:
        yield
    finally:
        _own.generator = None


def generator() -> torch.Generator | None:
    """This thread's, or None: torch's own, which all threads share."""
    of_thread: torch.Generator | None = getattr(_own, "generator", None)
    return of_thread


# The loss of a training step: smoothed cross-entropy, over all pieces or over some of them.
#
# Its gradient, softmax minus smoothed target, is worked out together with the loss: autograd
# would walk over the [N, V] logits seven times, and the projection to the pieces is the largest
# product of a small model. So training may read only some pieces: the commonest, the batch's own,
# and others drawn at random, which stand for all the rest (Jean et al. 2015, section 3): each
# drawn one counts as often as there are pieces for it to stand for, so that the sum under the
# softmax is right on average.

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


# A batch's gradients by several threads of a CPU, each with some of the batch's rows.
#
# A small model's products are too small to be divided. Of the time that one thread takes for a
# step of 6,000 tokens, two that divide each product take .93, two with half of the rows each .69
# (bfloat16, two cores; `python -m tests.bench training`).

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


# Passes in bfloat16 on a CPU that multiplies it faster; the weights themselves stay float32.

HALF = "HEADSCOPE_HALF"


def uses_half() -> bool:
    """Read HEADSCOPE_HALF, yes or no: passes on a CPU in bfloat16; auto: where it is faster.

    Raises DeviceError.
    """
    text = os.environ.get(HALF, "auto")
    if text not in ("yes", "no", "auto"):
        raise DeviceError(f"{HALF} must be yes, no or auto, not {quoted(text)}.")
    return is_faster() if text == "auto" else text == "yes"


def is_faster() -> bool:
    """Tell whether this CPU has matrix instructions for bfloat16 (AMX), or AMD's AVX-512 for it.

    Intel's AVX-512 does not suffice: with it alone products are slower than in float32 (75 GFLOP/s
    against 120 on one core of a Xeon of 2023; 205 against 82 on one of an EPYC of 2023).
    """
    # Of a CPU under an older torch nothing is known.
    able: dict[str, Any] = getattr(torch.cpu, "get_capabilities", dict)()
    is_amd = str(able.get("cpu_name", "")).startswith("AMD")
    return bool(able.get("amx_bf16", False) or (is_amd and able.get("avx512_bf16", False)))


class HalfCopy:
    """A copy of a model in bfloat16 that computes the gradients of the original."""

    def __init__(self, model: nn.Module) -> None:
        self.original: list[Tensor] = list(model.parameters())
        self.model: Any = deepcopy(model).to(torch.bfloat16)
        self.weights: list[Tensor] = list(self.model.parameters())

    @torch.no_grad()
    def refresh(self) -> None:
        """Take over the original's weights."""
        torch._foreach_copy_(self.weights, self.original)


def plain_attention() -> AbstractContextManager[Any]:
    """Softmax written out: the fused attention's backward pass is slow in bfloat16 on a CPU."""
    return sdpa_kernel(SDPBackend.MATH)


# Dropout whose masks are drawn ahead: on a CPU, drawing them anew takes a sixth of a step.

POOL = 1 << 22
"""Values drawn once; a mask is a stretch of them that begins anywhere."""


class PooledDropout(nn.Module):
    """A kind of `nn.Dropout` whose masks are cut from one long row of random numbers."""

    def __init__(self, p: float) -> None:
        super().__init__()
        self.p = p

    def forward(self, x: Tensor) -> Tensor:
        """x of any shape -> the same; in evaluation x itself."""
        if not self.training or not self.p:
            return x
        mask = _pool(self.p, x.dtype)
        if x.numel() >= len(mask):
            return x * _mask(torch.rand(x.shape, generator=generator()), self.p, x.dtype)
        start = int(torch.randint(len(mask) - x.numel(), (), generator=generator()))
        return x * mask[start : start + x.numel()].view(x.shape)


def pool_dropout(model: nn.Module) -> None:
    """Put PooledDropout in place of each nn.Dropout of a model; neither has weights."""
    for module in list(model.modules()):
        for name, child in module.named_children():
            if isinstance(child, nn.Dropout):
                setattr(module, name, PooledDropout(child.p))


@cache
def _pool(p: float, dtype: torch.dtype) -> Tensor:
    """1 / (1 - p) with probability 1 - p, else 0: [POOL]."""
    random = torch.Generator().manual_seed(1)
    return _mask(torch.rand(POOL, generator=random), p, dtype)


def _mask(random: Tensor, p: float, dtype: torch.dtype) -> Tensor:
    return (random >= p).to(dtype) / (1 - p)


# One step of training: a batch's loss, its gradients, and what the optimizer makes of them.

ANY_LENGTH = [SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION, SDPBackend.MATH]
"""Attention on a GPU without cuDNN's, which plans each new shape for 15 ms: batches are all of
other lengths, and a step of 24 attentions took 420 ms on an H200 instead of 35."""


class Update:
    """Changes a model's weights batch by batch, as fast as its device allows."""

    def __init__(self, model: nn.Module, training: TrainingConfig) -> None:
        """On a CPU the model's dropout is replaced by one that draws its masks ahead."""
        self.model, self.training = model, training
        self.device = next(model.parameters()).device
        self.optimizer = AdamW(
            model.parameters(),
            training.learning_rate,
            betas=(0.9, 0.98),
            weight_decay=training.weight_decay,
            fused=self.device.type != "mps",
        )
        self.half: HalfCopy | None = None
        self.shares = Shares(1)
        if self.device.type == "cpu":
            pool_dropout(model)
            # Persistent buffers are statistics that a batch norm keeps of what it sees.
            if len(model.state_dict()) == len(list(model.parameters())):
                self.half = HalfCopy(model) if uses_half() else None
                self.shares = Shares(torch.get_num_threads())

    @property
    def precision(self) -> str:
        """The type in which a batch passes through the model; its weights are float32."""
        return "bfloat16" if self.half or self.device.type == "cuda" else "float32"

    def __call__(self, batch: Batch, factor: float) -> Tensor:
        """Take one step. factor: on the learning rate. Returns the batch's loss."""
        self.model.train()
        self.optimizer.zero_grad(set_to_none=True)
        loss = self._gradients(batch.to(self.device))
        nn.utils.clip_grad_norm_(self.model.parameters(), self.training.gradient_clip)
        for group in self.optimizer.param_groups:
            group["lr"] = self.training.learning_rate * factor
        self.optimizer.step()
        return loss.detach()

    def _gradients(self, batch: Batch) -> Tensor:
        if self.half is not None:
            self.half.refresh()
        model = self.model if self.half is None else self.half.model.train()
        weights, own = (_trained(each) for each in (model, self.model))
        with nullcontext() if self.half is None else plain_attention():
            loss, gradients = self.shares.gradients(
                lambda rows: self.loss(model, rows), weights, batch
            )
        for weight, gradient in zip(own, gradients, strict=True):
            weight.grad = None if gradient is None else gradient.float()
        return loss

    def loss(self, model: Any, batch: Batch) -> Tensor:
        """Mean smoothed cross-entropy in nats per prediction; see `TrainingConfig.loss_pieces`."""
        training, targets = self.training, batch.target_output.flatten()
        if not training.loss_pieces:
            with precision(self.device):
                logits = model(*batch.inputs)
            return smoothed_loss(logits.flatten(0, -2), targets, training.label_smoothing)
        with precision(self.device):
            states = model.read(model.start(batch.inputs[0]), batch.inputs[1])
        table, n = model.embedding.weight, training.loss_pieces
        return sampled_loss(states.flatten(0, -2), table, targets, training.label_smoothing, n)


def _trained(model: nn.Module) -> list[nn.Parameter]:
    """The weights that are not frozen."""
    return [each for each in model.parameters() if each.requires_grad]


@torch.no_grad()
def held_out_loss(model: nn.Module, batch: Batch, device: torch.device) -> float:
    """Mean cross-entropy of a batch in nats per prediction, over all pieces, not smoothed."""
    here = batch.to(device)
    with precision(device):
        logits = model(*here.inputs)
    return float(smoothed_loss(logits.flatten(0, -2), here.target_output.flatten(), 0.0))


@contextmanager
def precision(device: torch.device) -> Iterator[None]:
    """Bfloat16 where CUDA computes, and attention for any length; elsewhere as the weights are."""
    if device.type != "cuda":
        yield
        return
    with torch.autocast("cuda", torch.bfloat16), sdpa_kernel(ANY_LENGTH):
        yield
