"""First-token mass: how much a head parks on the first key (Xiao et al. 2023)."""

from torch import Tensor

from transformer.analysis.metrics.metric import LEAST_OF_ONE, Metric, mean_over_queries


def first(weights: Tensor) -> Tensor:
    """mean_i( A_i0 ), over every query, the first included: [H, Q, K] -> [H]."""
    return mean_over_queries(weights[:, :, 0], weights)


METRIC = Metric(
    name="first",
    title="On first token",
    unit="share",
    compute=first,
    explain=(
        "Weight on the first key, mean over queries: heads with nothing to say often rest there "
        "(an attention sink)."
    ),
    formula=r"\frac{1}{Q} \sum_i A_{i0}",
    source="Xiao et al. 2023",
    is_role=True,
    least=LEAST_OF_ONE,
)
