"""The choices of Experiment: a tool, its settings, and the order of its results."""

from dataclasses import dataclass

from viz.about import CHECKPOINT, REQUEST
from viz.choice import PageFields, choice
from viz.spelling import NAME, TEXT, WHOLE, YES, one_of


@dataclass(frozen=True)
class ExperimentFields:
    """The choices of Experiment."""

    experiment: str | None = choice(NAME)
    """Its name; None: the first one."""
    sweep_sort: str = choice(NAME, "change")
    """The order: by the total "change", by "layer", or by a word: "word 3"."""
    sweep_kind: str = choice(NAME, "all", CHECKPOINT)
    """The kind of attention whose heads a sweep shows."""
    sweep_pairs: int = choice(WHOLE, 0)
    """The number of heads of which all pairs are tried."""
    sweep_over: str = choice(one_of("sentence", "sentences"), "sentence")
    """The texts that are swept: the sentence above, or those that were entered for it."""
    sweep_sentences: str | None = choice(TEXT, None, CHECKPOINT)
    """One per line; None: the checkpoint's examples."""
    sweep_asked: bool = choice(YES, False, REQUEST | {"sweep_over", "sweep_sentences"})
    """True: the sweep of these texts has begun; until then a button says how long it takes."""
    patch_from: str | None = choice(TEXT)
    """The sentence from which states and heads are put into `text`."""


FIELDS = PageFields("experiment", ExperimentFields, before="view")
