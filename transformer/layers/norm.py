"""Normalisations. Each takes x [B, T, D] and which positions are real [B, T] (None: all)."""

from typing import Any

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from transformer.config import ModelConfig


class LayerNorm(nn.LayerNorm):
    """Each position over its dimensions, a gain and a bias a dimension (Ba et al. 2016)."""

    def forward(self, x: Tensor, real: Tensor | None = None) -> Tensor:
        """x: [B, T, D] -> [B, T, D]."""
        return super().forward(x)


class DeviationNorm(nn.Module):
    """gain (x - mean) / (deviation + eps) + bias, a gain and a bias a dimension.

    The deviation is the unbiased one, over d_model - 1 (The Annotated Transformer).
    """

    def __init__(self, d_model: int, eps: float, correction: int = 1) -> None:
        super().__init__()
        self.eps, self.correction = eps, correction
        self.weight = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))

    def forward(self, x: Tensor, real: Tensor | None = None) -> Tensor:
        """x: [B, T, D] -> [B, T, D]."""
        deviation = x.std(-1, keepdim=True, correction=self.correction)
        return self.weight * (x - x.mean(-1, keepdim=True)) / (deviation + self.eps) + self.bias


class ScalarNorm(DeviationNorm):
    """The same with one gain, one bias and the biased deviation."""

    def __init__(self, eps: float) -> None:
        super().__init__(1, eps, correction=0)


class BatchNorm(nn.Module):
    """Each dimension over all real positions of a batch (Ioffe and Szegedy 2015).

    Padding counts nowhere: training leaves it out of the statistics, evaluation uses the running
    ones. So a padded batch gives what its sentences give one by one. Note that while training, a
    decoder's earlier positions learn a little of later ones through the statistics.
    """

    running_mean: Tensor
    running_variance: Tensor

    def __init__(self, d_model: int, eps: float, momentum: float = 0.1) -> None:
        super().__init__()
        self.eps, self.momentum = eps, momentum
        self.weight = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))
        self.register_buffer("running_mean", torch.zeros(d_model))
        self.register_buffer("running_variance", torch.ones(d_model))

    def forward(self, x: Tensor, real: Tensor | None = None) -> Tensor:
        """x: [B, T, D]; real: bool [B, T] -> [B, T, D]."""
        mean, variance = self.running_mean, self.running_variance
        if self.training:
            rows = x.flatten(0, 1) if real is None else x[real]  # [N, D]
            mean, variance = rows.mean(0), rows.var(0, correction=0)
            with torch.no_grad():
                self.running_mean.lerp_(mean.float(), self.momentum)
                unbiased = variance.float() * (len(rows) / max(1, len(rows) - 1))
                self.running_variance.lerp_(unbiased, self.momentum)
        return (x - mean) * (variance + self.eps).rsqrt() * self.weight + self.bias


class NoNorm(nn.Module):
    """x as it is."""

    def forward(self, x: Tensor, real: Tensor | None = None) -> Tensor:
        return x


def make_norm(config: ModelConfig, is_there: bool = True) -> nn.Module:
    """The norm that a configuration names, or none."""
    if not is_there:
        return NoNorm()
    if config.norm == "scalar":
        return ScalarNorm(config.norm_eps)
    if config.norm == "deviation":
        return DeviationNorm(config.d_model, config.norm_eps)
    if config.norm == "batch":
        return BatchNorm(config.d_model, config.norm_eps)
    return LayerNorm(config.d_model, config.norm_eps)


def make_closing_norm(config: ModelConfig, wanted: bool | None) -> nn.Module:
    """The norm after a stack's last layer; None: only where pre-norm leaves its sum as it is."""
    return make_norm(config, config.norm_order == "pre" if wanted is None else wanted)


# A model that is built to be filled: its random first values are not drawn.

_DRAWS = (Tensor.uniform_, Tensor.normal_)
"""Methods that `xavier_uniform_` and the like call, which are no torch functions themselves."""


class NoFirstValues(TorchFunctionMode):
    """Leave new layers as they are: to fill them took a third of the time, for nothing.

    It is of this thread alone, as another one may build a model with values: the library's own
    `no_init_weights` is of the whole process. All that is left must be loaded before it is used.
    """

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func in _DRAWS or getattr(func, "__module__", None) == torch.nn.init.__name__:
            return args[0] if args else kwargs["tensor"]
        return func(*args, **(kwargs or {}))
