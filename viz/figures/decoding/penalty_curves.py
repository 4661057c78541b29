"""The scores of finished hypotheses over the length penalty, with the penalties of ties."""

from collections.abc import Sequence

import numpy as np

from transformer.decoding.reranking import PENALTIES, Base, Tie, leads, score_at, ties
from transformer.visible import visible
from transformer.words import text_words
from viz.exhibits.chart import Axis, Chart, Curve, Mark, Rule
from viz.figures.decoding.hypotheses import Ranked, differences
from viz.labels import number
from viz.theme import SERIES

HEIGHT = 330
N_POINTS = 201
"""Points of a curve: one each 0.025, the penalties that a control offers among them."""
MOST_LETTERS = 44
ONLY_RANKED_AGAIN = (
    "This only ranks these texts again: at another penalty the search itself may write others."
)


def chart(hypotheses: Sequence[Ranked], penalty: float, base: Base) -> Chart:
    """A curve for each hypothesis, by its lead over the one that was written.

    Their scores themselves lie on top of each other. penalty: the one in use.
    """
    at = np.linspace(*PENALTIES, N_POINTS)
    curves = [np.array([score_at(it, float(x), base) for x in at]) for it in hypotheses]
    marks: list[Mark] = [
        Curve(
            _name(hypotheses, i),
            at,
            scores - curves[0],
            i % len(SERIES),
            "{0:.4f}",
            width=3.0 if i == 0 else 1.6,
            more=[(score,) for score in scores.tolist()],
        )
        for i, scores in enumerate(curves)
    ]
    if crossings := ties(hypotheses, base):
        marks.append(_ties(crossings, hypotheses[0], base))
    if PENALTIES[0] <= penalty <= PENALTIES[1]:
        marks.append(Rule(penalty, f"in use: {number(penalty, 2, 'g')}", place="bottom"))
    x = Axis("length penalty", ends=PENALTIES, hover="length penalty {x:.3f}")
    more = " over the length penalty\nonly these texts, ranked again"
    y = Axis("score less that of the first", has_grid=True)
    return Chart("penalty_curves", "Scores", more, x, y, marks, HEIGHT)


def _ties(crossings: Sequence[Tie], first: Ranked, base: Base) -> Curve:
    return Curve(
        "tie",
        [each.penalty for each in crossings],
        [each.score - score_at(first, each.penalty, base) for each in crossings],
        "text",
        "{0} and {1} tie at {x:.4f}",
        width=0,
        point=8,
        is_ring=True,
        more=[(each.below + 1, each.above + 1) for each in crossings],
    )


def first_of_all(hypotheses: Sequence[Ranked], base: Base) -> str:
    """Say which one is first at which penalties."""
    parts = leads(hypotheses, base)
    if len(parts) == 1:
        return f"{parts[0].index + 1} is first at every penalty from 0 to {PENALTIES[1]:g}."
    ranges = [
        f"{each.index + 1} is first from {number(each.start, 4, 'g')} to {number(each.end, 4, 'g')}"
        for each in parts
    ]
    return f"{', '.join(ranges)}."


def _name(hypotheses: Sequence[Ranked], index: int) -> str:
    """The rank of one, and the words in which it differs from the best."""
    text = hypotheses[index].text
    if index:
        changes = differences(text_words(hypotheses[0].text), text)
        text = ", ".join(" → ".join(filter(None, each.parts)) for each in changes) or text
    text = visible(text)
    short = text if len(text) <= MOST_LETTERS else f"{text[: MOST_LETTERS - 1]}…"
    return f"{index + 1}: {short}"
