"""Label smoothing (AIAYN, section 5.4), written out as a divergence between two distributions.

The loop trains with `torch.nn.functional.cross_entropy(..., label_smoothing=epsilon)`; this is the
same number taken apart: cross-entropy = KL(smoothed target || prediction) + entropy of the target.
"""

import torch
from torch import Tensor


def smoothed_target(target: int, vocab_size: int, epsilon: float) -> Tensor:
    """Return what the prediction is compared with: [V] in float64, sums to 1.

    PyTorch's convention: epsilon is spread over all V pieces, so the target keeps
    1 - epsilon + epsilon / V. (The Annotated Transformer spreads it over the V - 2 pieces that are
    neither the target nor padding.)
    """
    smoothed = torch.full((vocab_size,), epsilon / vocab_size, dtype=torch.float64)
    smoothed[target] += 1 - epsilon
    return smoothed


def entropy(probs: Tensor) -> Tensor:
    """-sum p ln p in nats: [..., V] -> [...]. The least that a cross-entropy with p can be."""
    return torch.special.entr(probs).sum(-1)


def cross_entropy(probs: Tensor, log_probs: Tensor) -> Tensor:
    """-sum p ln q in nats: p [..., V] and ln q [..., V] -> [...]."""
    return -_weighted(probs, log_probs).sum(-1)


def divergence(probs: Tensor, log_probs: Tensor) -> Tensor:
    """KL(p || q) = sum p (ln p - ln q) in nats: p [..., V] and ln q [..., V] -> [...]."""
    return _weighted(probs, probs.log() - log_probs).sum(-1)


def _weighted(probs: Tensor, values: Tensor) -> Tensor:
    """p * value, and 0 where p is 0 however infinite the value."""
    return torch.where(probs > 0, probs * values, 0.0)
