"""Confidence: how sure of one key a head is (Voita et al. 2019, section 4)."""

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
    title="Confidence",
    unit="share",
    compute=confidence,
    explain=(
        "The largest weight of a query, mean over queries; the end token counts as a key and as "
        "a query (Voita et al. 2019, who leave it out)."
    ),
)
