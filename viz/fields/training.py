"""The topic of Training, and the sizes and steps that it shows."""

from dataclasses import dataclass

from viz.about import REQUEST
from viz.choice import PageFields, choice
from viz.spelling import NAME, NUMBER, WHOLE, YES


@dataclass(frozen=True)
class TrainingFields:
    """The choices of Training."""

    topic: str | None = choice(NAME)
    position: int = choice(WHOLE, 0)
    """The place in the target where labels are smoothed."""
    epsilon: float | None = choice(NUMBER)
    d_model: int | None = choice(WHOLE)
    warmup: int | None = choice(WHOLE)
    log: bool = choice(YES, False)
    """True: steps are on a logarithmic axis."""
    snapshot: int | None = choice(WHOLE, None, REQUEST)
    """The step of training at which it was taken."""
    metric: str | None = choice(NAME)


FIELDS = PageFields("training", TrainingFields)
