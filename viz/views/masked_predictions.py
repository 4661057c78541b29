"""What a masked language model would put in the place of a mask (Devlin et al. 2019, 3.1)."""

from dataclasses import dataclass

import plotly.graph_objects as go

from transformer.recording import Recording
from transformer.recording.decisions import Masked
from viz.figures.layout import SMALL, axis, layout, rows_height
from viz.labels import figure_label, label, percent
from viz.theme import Theme
from viz.views.class_probabilities import BOTTOM, RIGHT, TOP
from viz.views.view import View

REST = "all others"


@dataclass(frozen=True)
class MaskChoice:
    """One of the masks in the text, by its position."""

    name: str = "position"
    title: str = "Mask at position"

    def options(self, recording: Recording) -> list[int]:
        return [masked.position for masked in recording.masked]


def draw(recording: Recording, theme: Theme, position: int) -> go.Figure:
    """A bar a candidate, the most probable on top, and one for the rest."""
    masked = _at(recording, position)
    names = [figure_label(each.token, theme.dim) for each in masked.candidates]
    probs = [each.prob for each in masked.candidates]
    names, probs = [*names, REST], [*probs, masked.rest]
    percents = [percent(prob) for prob in probs]
    colours = [theme.accent, *[theme.dim] * (len(probs) - 1)]
    margin = {"t": TOP, "l": 8, "r": RIGHT, "b": BOTTOM}
    height = rows_height(len(names)) + TOP + BOTTOM
    title = f"<b>At position {position}</b>"
    id = f"masked_predictions {position}"
    figure = go.Figure(layout=layout(theme, id, title, height=height, margin=margin, bargap=0.4))
    figure.add_trace(
        go.Bar(
            x=probs,
            y=list(range(len(names))),
            orientation="h",
            marker={"color": colours},
            text=percents,
            textposition="outside",
            textangle=0,
            textfont={"size": SMALL},
            cliponaxis=False,
            customdata=percents,
            hovertemplate="%{y}: %{x:.4f} (%{customdata})<extra></extra>",
        )
    )
    grid = {"showgrid": True, "gridcolor": theme.grid, "tickvals": [0, 0.5, 1]}
    figure.update_xaxes(axis(theme, "probability", range=[0, 1], **grid))
    rows = {"tickvals": list(range(len(names))), "ticktext": names}
    figure.update_yaxes(axis(theme, "", range=[len(names) - 0.5, -0.5], **rows))
    return figure


def describe(recording: Recording, position: int) -> str:
    masked = _at(recording, position)
    best = ", ".join(f"{label(each.token)} {percent(each.prob)}" for each in masked.candidates[:3])
    return f"In place of the mask at position {position} stand most probably: {best}."


def _at(recording: Recording, position: int) -> Masked:
    return next(masked for masked in recording.masked if masked.position == position)


VIEW = View(
    name="masked_predictions",
    title="Masked tokens",
    explain="The softmax of the logits at a mask: how probable each token is in its place.",
    needs="masked",
    draw=draw,
    describe=describe,
    controls=(MaskChoice(),),
)
