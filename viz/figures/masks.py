"""The masks of one sentence of a padded batch: each for itself, and what they forbid together."""

from dataclasses import dataclass
from typing import Any, Literal

import plotly.graph_objects as go
from torch import Tensor

from transformer.batch_masks import SentenceMasks
from viz.figures.heatmap import Side, cells_figure, make_square
from viz.figures.layout import COMFORTABLE, ROW, SMALL, layout, rows_height, token_axis
from viz.theme import Theme, plotly_scale

Which = Literal["padding", "subsequent", "combined"]

STATES = (
    "allowed",
    "forbidden by the padding mask",
    "forbidden by the subsequent mask",
    "forbidden by both masks",
    "forbidden by another mask",
)
"""What a cell can be, in the order of Theme.mask_colours: the bits of two masks, then another."""
OTHER = len(STATES) - 1
SEPARATED = 40
"""With more rows or columns than this the gaps between cells would hide them."""
MOST_COLUMNS = 24
"""Labels below a picture that shares its row with three others."""
SMALL_HEIGHT, SMALL_TOP = 176, 46
"""Pixels of a picture without labels, and of the two lines above its cells."""


def states_of(masks: SentenceMasks, which: Which = "combined") -> Tensor:
    """What each cell is to one or all of a sentence's masks, an index of STATES: [Q, K]."""
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
    """Whose it is, in words that stand behind the title."""

    @property
    def states(self) -> Tensor:
        """What each cell is, an index of STATES: [Q, K]."""
        return states_of(self.masks, self.which)

    @property
    def count(self) -> str:
        """How many cells are forbidden, in words."""
        states = self.states
        return f"{int(states.gt(0).sum())} of {states.numel()} cells forbidden"

    def describe(self) -> str:
        """One true sentence about it, for those who do not see it."""
        states = self.states
        parts = [f"{int(states.eq(i).sum())} {STATES[i]}" for i in range(len(STATES))]
        present = [part for part in parts if not part.startswith("0 ")]
        name = " ".join(filter(None, [self.title, self.of]))
        return f"{name}, {states.numel()} cells: {', '.join(present)}."


def draw(picture: Picture, theme: Theme) -> go.Figure:
    """Large, with a label at every token, and square cells."""
    masks = picture.masks
    figure = cells_figure(
        _sheets(picture, theme),
        tuple(picture.states.shape),
        Side("query", masks.queries),
        Side("key", masks.keys),
        theme,
        id=picture.id,
        title=f"{picture.title} · {picture.count}",
        right=8,
        most_columns=MOST_COLUMNS,
    )
    make_square(figure)
    return figure


def draw_beside(picture: Picture, theme: Theme) -> go.Figure:
    """The same, lower, beside small ones."""
    figure = draw(picture, theme)
    n_rows = len(picture.masks.queries)
    if n_rows * ROW <= COMFORTABLE:  # roomy rows may be lower: there is no number to read
        figure.layout.height -= rows_height(n_rows) // 4
    return figure


def draw_small(picture: Picture, theme: Theme) -> go.Figure:
    """Small, without labels: they stand beside it, and hovering says them."""
    title = f'{picture.title}<br><span style="font-size:{SMALL}px">{picture.count}</span>'
    frame: dict[str, Any] = {"showline": True, "mirror": True, "linecolor": theme.grid}
    frame |= {"showticklabels": False, "automargin": False}
    n_rows, n_columns = picture.states.shape
    across, down = {"range": [-0.5, n_columns - 0.5]}, {"range": [n_rows - 0.5, -0.5]}
    return go.Figure(
        _sheets(picture, theme),
        layout(
            theme,
            picture.id,
            title,
            height=SMALL_HEIGHT,
            margin={"t": SMALL_TOP, "l": 4, "r": 4, "b": 4},
            xaxis=token_axis(theme, "", picture.masks.keys, **frame | across),
            yaxis=token_axis(theme, "", picture.masks.queries, **frame | down),
        ),
    )


def _sheets(picture: Picture, theme: Theme) -> list[go.Heatmap]:
    """One sheet a state that occurs: so each says its words without a text a cell."""
    states = picture.states
    return [
        _sheet(states.eq(i), STATES[i], theme.mask_colours[i], theme)
        for i in range(len(STATES))
        if bool(states.eq(i).any())
    ]


def _sheet(cells: Tensor, words: str, colour: str, theme: Theme) -> go.Heatmap:
    gap = 1 if max(cells.shape) <= SEPARATED else 0
    return go.Heatmap(
        z=cells.float().masked_fill(~cells, float("nan")).numpy(),
        zmin=0,
        zmax=1,
        colorscale=plotly_scale([colour, colour]),
        showscale=False,
        xgap=gap,
        ygap=gap,
        name=words,
        hovertemplate=f"%{{y}} → %{{x}}: {words}<extra></extra>",
        hoverongaps=False,
    )
