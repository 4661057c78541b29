"""Same token mass: how much a head looks at the token itself (Clark et al. 2019, section 3)."""

from torch import Tensor

from transformer.analysis.metrics.metric import Metric, mass_at_offset


def same(weights: Tensor) -> Tensor:
    """mean_i( A_i,i ) over queries that have such a key: [H, Q, K] -> [H]."""
    return mass_at_offset(weights, 0)


METRIC = Metric(
    name="same",
    title="Same token",
    unit="share",
    compute=same,
    explain=(
        "Weight on the token itself, mean over queries: each query has one (Clark et al. 2019)."
    ),
    same_sequence=True,
)
