"""Previous token mass: how much a head looks at the token before (Clark et al. 2019, section 3)."""

from torch import Tensor

from transformer.analysis.metrics.metric import Metric, mass_at_offset


def previous(weights: Tensor) -> Tensor:
    """mean_i( A_i,i-1 ) over queries that have such a key: [H, Q, K] -> [H]."""
    return mass_at_offset(weights, -1)


METRIC = Metric(
    name="previous",
    title="Previous token",
    unit="share",
    compute=previous,
    explain=(
        "Weight on the token before, mean over queries: the first token has none and is left out "
        "(Clark et al. 2019)."
    ),
    same_sequence=True,
)
