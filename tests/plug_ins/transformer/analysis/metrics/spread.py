"""How many keys a head attends to: 2 to the power of the entropy."""

import math

import torch
from torch import Tensor

from transformer.analysis.metrics.metric import Metric, mean_over_queries


def spread(weights: Tensor) -> Tensor:
    """mean_i 2 ** H(a_i): [H, Q, K] -> [H], between 1 and K."""
    bits = torch.special.entr(weights).sum(-1) / math.log(2)
    return mean_over_queries(2**bits, weights)


METRIC = Metric(
    name="spread",
    title="Spread",
    unit="keys",
    compute=spread,
    explain="2 to the power of the entropy: as if that many keys shared the weight evenly.",
    formula=r"\frac{1}{Q} \sum_i 2^{H(A_i)}",
    least_change=0.5,
)
