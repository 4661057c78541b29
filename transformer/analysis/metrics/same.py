"""Same token mass, mean_i A_ii: how much a head looks at the token itself.

Clark et al. 2019, section 3.
"""

from functools import partial

from transformer.analysis.metrics.metric import Metric, mass_at_offset

METRIC = Metric(
    name="same",
    title="On same token",
    unit="share",
    compute=partial(mass_at_offset, offset=0),
    explain=("Weight on the token itself, mean over queries: each query has one."),
    formula=r"\frac{1}{Q} \sum_i A_{ii}",
    source="Clark et al. 2019, section 3",
    same_sequence=True,
    is_role=True,
)
