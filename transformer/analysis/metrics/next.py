"""Next token mass: how much a head looks at the token after (Clark et al. 2019, section 3)."""

from torch import Tensor

from transformer.analysis.metrics.metric import Metric, mass_at_offset


def next_token(weights: Tensor) -> Tensor:
    """mean_i( A_i,i+1 ) over queries that have such a key: [H, Q, K] -> [H].

    A causal head gives 0: the next token is there, but the mask hides it.
    """
    return mass_at_offset(weights, 1)


METRIC = Metric(
    name="next",
    title="Next token",
    unit="share",
    compute=next_token,
    explain=(
        "Weight on the token after, mean over queries: the last token has none and is left out "
        "(Clark et al. 2019)."
    ),
    same_sequence=True,
)
