"""Mean distance: how far a head looks (Vig & Belinkov 2019)."""

import torch
from torch import Tensor

from transformer.analysis.metrics.metric import Metric, mean_over_queries


def distance(weights: Tensor) -> Tensor:
    """sum_ij A_ij |i - j| / sum_ij A_ij, in positions: [H, Q, K] -> [H].

    Rows sum to 1, so this is the mean over queries of sum_j A_ij |i - j|. In cross-attention i
    counts target tokens and j source tokens: 0 then means "keeps the order", not "stays put".
    """
    queries, keys = (torch.arange(n).to(weights) for n in weights.shape[1:])
    apart = (queries[:, None] - keys).abs_()  # [Q, K]; in whole numbers it takes 5 times as long
    return mean_over_queries((weights * apart).sum(-1), weights)


METRIC = Metric(
    name="distance",
    title="Mean distance",
    unit="positions",
    compute=distance,
    explain=(
        "How many positions lie between query and key, weighted by attention; across two "
        "sequences, between their places in each."
    ),
    formula=r"\frac{1}{Q} \sum_i \sum_j A_{ij} \vert i - j \vert",
    source="Vig & Belinkov 2019",
    least_change=0.5,
)
