"""The choices of Compare beside A: B, which is a checkpoint or A with edits, and its head."""

from dataclasses import dataclass

from viz.about import CHECKPOINT, HEAD_B, REQUEST, SECOND
from viz.choice import PageFields, choice
from viz.spelling import NAME, PAIR, PINS, WHOLE, WHOLES, YES

TEXT_B = REQUEST | SECOND | {"method_b", "own_b", "kind_b"}
"""The fields that make rows and columns of B."""


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
    pins_b: tuple[str, ...] = choice(PINS, (), TEXT_B | {"tokens", "special", "between"})
    """Rows and columns of B that are pinned, of tokens that A has not."""
    cell_b: tuple[int, int] | None = choice(PAIR, None, TEXT_B)


FIELDS = PageFields("compare", CompareFields, before="step")
