"""The masks of one sentence of a padded batch: each for itself, and what they forbid together."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from torch import Tensor

from transformer.analysis.tables import Side
from transformer.batch_masks import SentenceMasks
from transformer.token import Token
from viz.exhibits.chart import Axis, Cells, Chart

Which = Literal["padding", "subsequent", "combined"]

STATES = (
    "allowed",
    "forbidden by the padding mask",
    "forbidden by the subsequent mask",
    "forbidden by both masks",
    "forbidden by another mask",
)
"""The states of a cell, in the order of Theme.mask_colours: the bits of two masks, then another."""
OTHER = len(STATES) - 1
SEPARATED = 40
"""With more rows or columns than this the gaps between cells would hide them."""
MOST_COLUMNS = 24
"""Labels below a picture that shares its row with three others."""
FEW, LOW_ROW, LOWEST = 20, 19, 58
"""Rows that may be lower beside small pictures, for there is no number to read; the pixels of such
a one, and of all, at least."""
SMALL_HEIGHT = 126
"""Pixels of a picture without labels."""


def states_of(masks: SentenceMasks, which: Which = "combined") -> Tensor:
    """The state of each cell for one or all of a sentence's masks, an index of STATES: [Q, K]."""
    states = (~masks.padding).byte() * (which != "subsequent")
    if masks.subsequent is not None and which != "padding":
        states = states + 2 * (~masks.subsequent).byte()
    if masks.other is not None and which == "combined":
        states = states.masked_fill(~masks.other, OTHER)
    return states


@dataclass(frozen=True, eq=False)
class Picture:
    """One or both masks of a sentence, with a name for people and one for tests."""

    masks: SentenceMasks
    which: Which
    title: str
    id: str
    of: str = ""
    """The side that it is of, in words behind the title."""

    @property
    def states(self) -> Tensor:
        """The state of each cell, an index of STATES: [Q, K]."""
        return states_of(self.masks, self.which)

    @property
    def count(self) -> str:
        """The number of forbidden cells, in words."""
        states = self.states
        return f"{int(states.gt(0).sum())} of {states.numel()} cells forbidden"

    def describe(self) -> str:
        """One true sentence about it, for those who do not see it."""
        states = self.states
        parts = [f"{int(states.eq(i).sum())} {STATES[i]}" for i in range(len(STATES))]
        present = [part for part in parts if not part.startswith("0 ")]
        name = " ".join(filter(None, [self.title, self.of]))
        return f"{name}, {states.numel()} cells: {', '.join(present)}."


def chart(picture: Picture) -> Chart:
    """Large, with a label at every token, and square cells."""
    masks = picture.masks
    return Chart(
        picture.id,
        "",
        f"{picture.title} · {picture.count}",
        replace(_axis("key", masks.keys), most_labels=MOST_COLUMNS),
        _axis("query", masks.queries),
        _cells(picture),
        is_square=True,
    )


def _axis(side: str, tokens: Sequence[Token]) -> Axis:
    return Axis(side, labels=tokens, origins=Side(side, tokens).all)


def beside_small(picture: Picture) -> Chart:
    """The same, lower, beside small ones."""
    n_rows = len(picture.masks.queries)
    return replace(chart(picture), height=max(LOWEST, n_rows * LOW_ROW) if n_rows <= FEW else 0)


def small(picture: Picture) -> Chart:
    """Small, without labels: they stand beside it, and hovering says them."""
    masks = picture.masks
    x, y = (
        replace(_axis(side, tokens), title="", is_labelled=False)
        for side, tokens in (("key", masks.keys), ("query", masks.queries))
    )
    more = f"{picture.title}\n{picture.count}"
    return Chart(picture.id, "", more, x, y, _cells(picture), SMALL_HEIGHT)


def _cells(picture: Picture) -> list[Cells]:
    """One mark a state that occurs: so each says its words without a text a cell."""
    states = picture.states
    return [
        Cells(
            STATES[i],
            states.eq(i).numpy(),
            ("mask", i),
            f"{{y}} → {{x}}: {STATES[i]}",
            has_gaps=max(states.shape) <= SEPARATED,
        )
        for i in range(len(STATES))
        if bool(states.eq(i).any())
    ]
