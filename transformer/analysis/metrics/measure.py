"""measure(): every metric that says something about an attention."""

from collections.abc import Mapping

import torch
from torch import Tensor

from transformer.analysis.metrics.metric import Metric
from transformer.discover import discover
from transformer.recording import Attention


def metrics_of(attention: Attention) -> dict[str, Metric]:
    """name -> metric: those that say something about attention of this kind over these tokens."""
    return metrics_for(attention.queries == attention.keys, attention.is_cross)


def metrics_for(is_same: bool, is_cross: bool) -> dict[str, Metric]:
    """The same, by what is to be known: whether queries and keys are the same tokens, and
    whether the keys are of another sequence."""
    result: dict[str, Metric] = discover("transformer.analysis.metrics", "METRIC")
    return {
        name: metric
        for name, metric in result.items()
        if (is_same or not metric.same_sequence) and (is_cross or not metric.cross)
    }


def measure(attention: Attention, layer: int) -> dict[str, Tensor]:
    """name -> one number per head [H], for the metrics that apply to this attention.

    For one head only: `measure(attention.only(head), layer)`.
    """
    weights = attention.weights(layer)
    return {name: metric.compute(weights) for name, metric in metrics_of(attention).items()}


def computed(metrics: Mapping[str, Metric], weights: Tensor) -> Tensor:
    """[M, H]: each metric, in this order, of weights [H, Q, K]; heads may be of several layers."""
    return torch.stack([metric.compute(weights) for metric in metrics.values()])
