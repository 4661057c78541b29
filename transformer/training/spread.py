"""A measure of how far an encoder tells positions apart: a run whose encoder does not is lost.

Where the rate rises too fast, a deep post-norm encoder comes to give every position of a source the
same vector (rank collapse; Dong, Cordonnier and Loukas 2021, "Attention is not all you need").
The loss still falls, as a decoder learns to write without looking, so it does not tell.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn

COLLAPSED = 0.1
"""A spread below which a decoder has nowhere to look: the encoders shipped here have .9 or more."""
ADVICE = (
    "the encoder gives all positions of a source nearly the same vector: start again with a lower "
    "rate or a longer warm-up"
)


def spread(states: Tensor, mask: Tensor | None) -> float:
    """The length of what sets positions apart from their source's mean, as a share of the whole.

    states: [B, S, D]; mask: [B, 1, 1, S], False at padding. 0 where all positions are one vector.
    """
    real = torch.ones(states.shape[:2]) if mask is None else mask[:, 0, 0]
    weights = real.to(states.device, torch.float32)[..., None]
    mean = (states * weights).sum(1, keepdim=True) / weights.sum(1, keepdim=True)
    return float(((states - mean) * weights).norm() / (states * weights).norm())


@contextmanager
def spreads(model: nn.Module) -> Iterator[list[float]]:
    """Collect the spread of every pass of a model's encoder; nothing where it has none."""
    result: list[float] = []

    def measure(_: nn.Module, inputs: tuple[Tensor, Tensor | None], states: Tensor) -> None:
        result.append(spread(states.detach(), inputs[1]))

    encoder = getattr(model, "encoder", None)
    handle = encoder.register_forward_hook(measure) if isinstance(encoder, nn.Module) else None
    try:
        yield result
    finally:
        if handle is not None:
            handle.remove()
