"""Biggest: where the largest weight of each kind of attention is, as words that are declared."""

from viz.exhibits.exhibit import Exhibit, Line, Span, Words
from viz.labels import kind_title
from viz.state.page import Page, Pane


def exhibits(pane: Pane) -> dict[str, Exhibit]:
    """A line for each kind of attention, with a number below its second word."""
    lines = []
    for kind, each in pane.recording.attentions.items():
        most = float(each.weights(0, 0).max())
        number = Span("most", f"{most:.3f}", most, "weight")
        lines.append(Line([Span("at"), number, Span(kind_title(kind), role="new")], "It looks"))
    return {"biggest": Exhibit("Biggest", Words(lines))}


PAGE = Page("biggest", "Biggest", "Look", 96, exhibits=exhibits)
