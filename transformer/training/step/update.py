"""One step of training: a batch's loss, its gradients, and what the optimizer makes of them."""

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.optim import AdamW

from transformer.training.batches import Batch
from transformer.training.config import TrainingConfig
from transformer.training.step.dropout import pool_dropout
from transformer.training.step.half import HalfCopy, plain_attention, uses_half
from transformer.training.step.loss import sampled_loss, smoothed_loss
from transformer.training.step.shares import Shares

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
