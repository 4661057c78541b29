"""The pieces that a masked language model puts in place of a mask (Devlin et al. 2019, 3.1)."""

from dataclasses import dataclass

from transformer.analysis.tables.origins import Side
from transformer.recording import Recording
from transformer.recording.decisions import Masked
from transformer.token import Token
from viz.exhibits.chart import Chart
from viz.figures import probability_bars
from viz.labels import bare_label, percent
from viz.views.view import View

REST = "all others"


@dataclass(frozen=True)
class MaskChoice:
    """One of the masks in the text, by its position."""

    name: str = "position"
    title: str = "Mask at position"

    def options(self, recording: Recording) -> list[int]:
        return [masked.position for masked in recording.masked]


def chart(recording: Recording, position: int) -> Chart:
    """A bar a candidate, the most probable on top, and one for the rest."""
    masked = _at(recording, position)
    names: list[Token | str] = [*(each.token for each in masked.candidates), REST]
    probs = [*(each.prob for each in masked.candidates), masked.rest]
    name, title = f"masked_predictions {position}", (f"At position {position}", "")
    origin = Side("query", recording.source).at([position])
    return probability_bars.chart(name, title, names, probs, 0, origin=origin)


def describe(recording: Recording, position: int) -> str:
    masked = _at(recording, position)
    best = ", ".join(
        f"{bare_label(each.token)} {percent(each.prob)}" for each in masked.candidates[:3]
    )
    return f"In place of the mask at position {position} stand most probably: {best}."


def _at(recording: Recording, position: int) -> Masked:
    return next(masked for masked in recording.masked if masked.position == position)


VIEW = View(
    name="masked_predictions",
    title="Masked tokens",
    explain="The softmax of the logits at a mask: how probable each token is in its place.",
    needs="masked",
    content=chart,
    describe=describe,
    controls=(MaskChoice(),),
)
