"""Heads of columns that several tables of heads have, and what they mean."""

from transformer.corpus.atlas import title_of
from transformer.corpus.measured import metrics, roles
from viz.exhibits.table import Column
from viz.words import WORDS

DOES = Column(
    "does", is_text=True, explain=f"The labels of the head. {WORDS['head_label'].sentence}"
)
FOOTPRINT = Column("footprint", explain=WORDS["footprint"].sentence)
INTERVAL = Column(
    "95 % interval",
    explain="Where the mean lies in 95 % of all draws of as many sentences from these, with "
    "replacement (percentile bootstrap, Efron 1979).",
)
BY_CHANCE = "The same of a head that looks at all keys alike."
WORTH = WORDS["head_worth"].sentence


def of_number(name: str, is_marked: bool = False) -> Column:
    """The head of a column with a metric of heads, or the score of a role."""
    explain = (metrics() | roles())[name].explain
    return Column(title_of(name).lower(), is_marked=is_marked, explain=explain)
