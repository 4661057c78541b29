"""The choices of Compare beside A: B, which is a checkpoint or A with edits, and its head."""

from dataclasses import dataclass

from viz.about import CHECKPOINT, HEAD_B, REQUEST, SECOND
from viz.choice import PageFields, choice
from viz.spelling import NAME, PAIR, WHOLE, WHOLES, YES


@dataclass(frozen=True)
class CompareFields:
    """The choices of Compare; those of a head are named as A's, with "_b"."""

    checkpoint_b: str | None = choice(NAME)
    weights_b: str | None = choice(NAME, None, frozenset(("checkpoint_b",)))
    """The start of its SHA-256, as `weights` is of A's."""
    edited_b: bool = choice(YES, False)
    """True: B is A with `edits`, where it is no other checkpoint."""
    method_b: str | None = choice(NAME)
    """The decoding method by which B writes, where it is A otherwise."""
    own_b: bool = choice(YES, False)
    """True: B, with edits, writes by itself; else it reads what A wrote."""
    same_head: bool = choice(YES, False)
    """True: B shows the head that A shows, and A that of B, where they are of two runs."""
    kind_b: str | None = choice(NAME, None, SECOND)
    layer_b: int | None = choice(WHOLE, None, SECOND)
    head_b: int | None = choice(WHOLE, None, SECOND)
    heads_b: tuple[int, ...] | None = choice(WHOLES, None, CHECKPOINT | SECOND | HEAD_B)
    cell_b: tuple[int, int] | None = choice(PAIR, None, REQUEST | SECOND | {"kind_b"})


FIELDS = PageFields("compare", CompareFields, before="step")
