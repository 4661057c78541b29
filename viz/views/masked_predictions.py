"""What a masked language model would put in the place of a mask (Devlin et al. 2019, 3.1)."""

from dataclasses import dataclass

import plotly.graph_objects as go

from transformer.recording import Recording
from transformer.recording.decisions import Masked
from viz.figures import probability_bars
from viz.labels import figure_label, label, percent
from viz.theme import Theme
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
    title, id = f"<b>At position {position}</b>", f"masked_predictions {position}"
    names, probs = [*names, REST], [*probs, masked.rest]
    return probability_bars.draw(names, probs, 0, theme, id=id, title=title)


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
