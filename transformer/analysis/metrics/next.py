"""Next token mass, mean_i A_i,i+1: how much a head looks at the token after.

Clark et al. 2019, section 3. A causal head gives 0: the mask hides the next token.
"""

from functools import partial

from transformer.analysis.metrics.metric import Metric, mass_at_offset

METRIC = Metric(
    name="next",
    title="On next token",
    unit="share",
    compute=partial(mass_at_offset, offset=1),
    explain=(
        "Weight on the token after, mean over queries: the last token has none and is left out."
    ),
    formula=r"\frac{1}{Q - 1} \sum_i A_{i,i+1}",
    source="Clark et al. 2019, section 3",
    same_sequence=True,
    needs_lengths=True,
    is_role=True,
)
