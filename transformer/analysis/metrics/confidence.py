"""Sharpness: how sure of one key a head is.

Voita et al. (2019, section 4) call it confidence, and so do addresses; beside the probabilities of
a decoder that word reads as one of these.
"""

from torch import Tensor

from transformer.analysis.metrics.metric import Metric, mean_over_queries


def confidence(weights: Tensor) -> Tensor:
    """mean_i( max_j A_ij ): [H, Q, K] -> [H], between 1/K and 1.

    The end token counts like any other, as query and as key. Voita et al. leave it out, over a
    corpus; here the picture beside the number shows it, so the number does too.
    """
    return mean_over_queries(weights.amax(-1), weights)


METRIC = Metric(
    name="confidence",
    title="Sharpness",
    unit="share",
    compute=confidence,
    explain=(
        "The largest weight of a query, mean over queries: 100 % is one key per query. The end "
        "token counts as a key and as a query, which the paper leaves out."
    ),
    formula=r"\frac{1}{Q} \sum_i \max_j A_{ij}",
    source="confidence in Voita et al. 2019, section 4",
)
