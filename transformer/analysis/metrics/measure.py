"""measure(): every metric that says something about an attention."""

from collections.abc import Mapping

import torch
from torch import Tensor

from transformer.analysis.metrics.metric import Metric
from transformer.discover import discover
from transformer.recording import Attention


def metrics_of(attention: Attention) -> dict[str, Metric]:
    """name -> metric: those that say something about attention of this kind over these tokens."""
    result: dict[str, Metric] = discover("transformer.analysis.metrics", "METRIC")
    is_same = attention.queries == attention.keys
    return {
        name: metric
        for name, metric in result.items()
        if (is_same or not metric.same_sequence) and (attention.is_cross or not metric.cross)
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
