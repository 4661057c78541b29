"""Previous token mass, mean_i A_i,i-1: how much a head looks back by one.

Clark et al. 2019, section 3.
"""

from functools import partial

from transformer.analysis.metrics.metric import Metric, mass_at_offset

METRIC = Metric(
    name="previous",
    title="On previous token",
    unit="share",
    compute=partial(mass_at_offset, offset=-1),
    explain=(
        "Weight on the token before, mean over queries: the first token has none and is left out."
    ),
    formula=r"\frac{1}{Q - 1} \sum_i A_{i,i-1}",
    source="Clark et al. 2019, section 3",
    same_sequence=True,
    is_role=True,
)
