"""Entropy: how widely a head looks (Clark et al. 2019, section 3)."""

import torch
from torch import Tensor

from transformer.analysis.metrics.metric import Metric, mean_over_queries


def entropy(weights: Tensor) -> Tensor:
    """mean_i( -sum_j A_ij log2 A_ij ), with 0 log 0 = 0, in bits: [H, Q, K] -> [H].

    0 bits: one key per query. log2(K) bits: all keys alike. No smoothing, unlike Clark et al.
    """
    # torch.special.entr takes 4 times as long on a CPU. Below `tiny` a weight adds less than 1e-35.
    logarithms = weights.clamp_min(torch.finfo(weights.dtype).tiny).log2()
    bits = (weights * logarithms).sum(-1).abs()  # [H, Q]; no term is above 0, and none gives -0.0
    return mean_over_queries(bits, weights)


METRIC = Metric(
    name="entropy",
    title="Entropy",
    unit="bits",
    compute=entropy,
    explain=(
        "How widely the head looks: 0 bits is a single key, 1 bit as if two keys shared the "
        "weight. Mean over queries."
    ),
    formula=r"-\frac{1}{Q} \sum_i \sum_j A_{ij} \log_2 A_{ij}",
    source="Clark et al. 2019, section 3",
    least_change=0.25,
)
