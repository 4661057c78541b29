"""The file, the tensor and the words that Inspect shows."""

from dataclasses import dataclass

from viz.about import CHECKPOINT
from viz.choice import PageFields, choice
from viz.spelling import NAME, PAIR, TEXT, WHOLE, YES, one_of


@dataclass(frozen=True)
class InspectFields:
    """The choices of Inspect."""

    inspect: str | None = choice(NAME)
    """The part of the page; None: the first one."""
    tensor: str | None = choice(NAME)
    tensor_rows: tuple[int, int] | None = choice(PAIR, None, CHECKPOINT | {"tensor"})
    """The first and the last one."""
    tensor_columns: tuple[int, int] | None = choice(PAIR, None, CHECKPOINT | {"tensor"})
    pooling: str = choice(one_of("largest", "mean"), "largest")
    kind_circuit: str | None = choice(NAME, None, CHECKPOINT)
    """The head whose circuits are shown, with its layer and its number."""
    layer_circuit: int | None = choice(WHOLE, None, CHECKPOINT)
    head_circuit: int | None = choice(WHOLE, None, CHECKPOINT)
    circuit_words: str | None = choice(TEXT)
    """None: the checkpoint's examples."""
    split: str | None = choice(TEXT)
    """The text that is split into pieces; None: the checkpoint's first example."""
    piece: str = choice(TEXT, "")
    """A part of the pieces that are listed."""
    lacking: bool = choice(YES, False)
    """True: only under-trained ones are listed."""
    table: str | None = choice(NAME)
    """The table of learned positions."""


FIELDS = PageFields("inspect", InspectFields)
