"""Decisions of a model that writes nothing: a text's class, and tokens for its masks: data."""

from dataclasses import dataclass, field

import torch
from torch import Tensor

from transformer.token import Candidate


@dataclass(frozen=True, eq=False)
class Classification:
    """A classifier's decision."""

    classes: tuple[str, ...]
    logits: Tensor
    """[C]"""
    is_exclusive: bool = field(default=True, kw_only=True)
    """True: a text has exactly one class; otherwise each class is independent."""

    @property
    def probs(self) -> Tensor:
        """softmax(logits) [C], 1 in all; of classes that hold by themselves sigmoid(logits)."""
        return self.logits.softmax(-1) if self.is_exclusive else self.logits.sigmoid()


@dataclass(frozen=True, eq=False)
class PooledClassification(Classification):
    """A decision by one linear layer, from a vector that was pooled over positions."""

    pooling: str
    """"mean" or "max"."""
    outputs: Tensor
    """The encoder's outputs [T, D]."""
    weight: Tensor
    """The matrix of the last linear layer [C, D]."""
    bias: Tensor
    """[C]"""
    real: Tensor
    """bool [T]: the positions that are pooled; a hidden word's is not."""

    def winners(self) -> Tensor:
        """The position with the largest value in each dimension [D]."""
        return self.outputs.masked_fill(~self.real[:, None], -torch.inf).argmax(0)

    def taken(self) -> Tensor:
        """Each position's share of the pooled vector [T]; shares sum to 1.

        Max pooling: of the dimensions, the share in which the position won. Mean pooling: the same
        for each that is pooled.
        """
        n_positions, d_model = self.outputs.shape
        if self.pooling == "mean":
            return self.real / self.real.sum()
        return self.winners().bincount(minlength=n_positions) / d_model

    def contributions(self) -> Tensor:
        """Compute what positions add to each logit [T, C]; with the bias they sum to the logits."""
        if self.pooling == "mean":
            pooled = self.outputs.masked_fill(~self.real[:, None], 0.0)
            return pooled @ self.weight.mT / self.real.sum()
        won = torch.zeros_like(self.outputs)
        winners = self.winners()[None]
        won.scatter_(0, winners, self.outputs.gather(0, winners))
        return won @ self.weight.mT


@dataclass(frozen=True)
class Masked:
    """Candidates of a masked language model for the place of one mask."""

    position: int
    """In the source."""
    candidates: tuple[Candidate, ...]
    """The most probable tokens, best first."""
    rest: float
    """The probability of all other tokens together."""
