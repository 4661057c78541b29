"""The sizes that Why attention compares layers at."""

from dataclasses import dataclass

from viz.choice import PageFields, choice
from viz.spelling import WHOLE


@dataclass(frozen=True)
class WhyAttentionFields:
    """The choices of Why attention: None is the usual size."""

    d: int | None = choice(WHOLE)
    k: int | None = choice(WHOLE)
    n: int | None = choice(WHOLE)
    r: int | None = choice(WHOLE)


FIELDS = PageFields("why_attention", WhyAttentionFields)
