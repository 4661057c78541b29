"""Views of what a reader puts out: classes, masked pieces, numbers, pooled positions."""

import textwrap
from dataclasses import dataclass

from torch import Tensor

from transformer.analysis.tables import Side
from transformer.recording import Recording
from transformer.recording.data import Classification, Masked, PooledClassification
from transformer.token import Token
from viz.exhibits.chart import Axis, Bars, Chart, Ink, Rule
from viz.figures.decoding import chart_probability_bars
from viz.labels import bare_label, in_word, number, percent, signed
from viz.views.view import Choice, View

# The decision of a classifier: the probability of each class.

MOST = 40
"""Bars of a figure: of more classes the most probable are drawn."""
SAID = 5
"""The number of classes in the sentence."""


def classification_of(recording: Recording) -> Classification:
    """The part that these views draw. Raises ValueError where there is none."""
    if recording.classification is None:
        raise ValueError("nothing was classified here: View.applies_to says so")
    return recording.classification


def predicted(result: Classification) -> int:
    """The class with the largest logit."""
    return int(result.logits.argmax())


def ranked(result: Classification) -> list[int]:
    """The classes, the most probable first."""
    return result.logits.argsort(descending=True, stable=True).tolist()


def chart_class_probabilities(recording: Recording) -> Chart:
    """A bar a class, from 0 to 1; in the model's order, of very many the most probable first."""
    result = classification_of(recording)
    rows = ranked(result)[:MOST] if len(result.classes) > MOST else range(len(result.classes))
    names = [result.classes[i] for i in rows]
    probs, logits = result.probs[list(rows)].tolist(), result.logits[list(rows)].tolist()
    best = rows.index(predicted(result))
    title = ("Predicted", f" {names[best]}")
    return chart_probability_bars("class_probabilities", title, names, probs, best, logits)


def describe_class_probabilities(recording: Recording) -> str:
    result = classification_of(recording)
    best, n = predicted(result), len(result.classes)
    named = ranked(result)[:SAID] if n > MOST else range(n)
    chances = ", ".join(f"{result.classes[i]} {percent(float(result.probs[i]))}" for i in named)
    others = f", and {n - SAID:,} others" if n > MOST else ""
    return (
        f"Predicted: {result.classes[best]}, with a logit of {number(result.logits[best])}. "
        f"The probabilities: {chances}{others}."
    )


CLASS_PROBABILITIES_VIEW = View(
    name="class_probabilities",
    title="Classes",
    explain=(
        "The softmax of the logits: a probability for each class, 1 in all. Where a text may be of "
        "several classes, the sigmoid of each logit."
    ),
    needs="classification",
    content=chart_class_probabilities,
    describe=describe_class_probabilities,
    controls=(),
)


# The pieces that a masked language model puts in place of a mask (Devlin et al. 2019, 3.1).

REST = "all others"


@dataclass(frozen=True)
class MaskChoice:
    """One of the masks in the text, by its position."""

    name: str = "position"
    title: str = "Mask at position"

    def options(self, recording: Recording) -> list[int]:
        return [masked.position for masked in recording.masked]


def chart_masked_predictions(recording: Recording, position: int) -> Chart:
    """A bar a candidate, the most probable on top, and one for the rest."""
    masked = _at(recording, position)
    names: list[Token | str] = [*(each.token for each in masked.candidates), REST]
    probs = [*(each.prob for each in masked.candidates), masked.rest]
    name, title = f"masked_predictions {position}", (f"At position {position}", "")
    origin = Side("query", recording.source).at([position])
    return chart_probability_bars(name, title, names, probs, 0, origin=origin)


def describe_masked_predictions(recording: Recording, position: int) -> str:
    masked = _at(recording, position)
    best = ", ".join(
        f"{bare_label(each.token)} {percent(each.prob)}" for each in masked.candidates[:3]
    )
    return f"In place of the mask at position {position} stand most probably: {best}."


def _at(recording: Recording, position: int) -> Masked:
    return next(masked for masked in recording.masked if masked.position == position)


MASKED_PREDICTIONS_VIEW = View(
    name="masked_predictions",
    title="Masked tokens",
    explain="The softmax of the logits at a mask: how probable each token is in its place.",
    needs="masked",
    content=chart_masked_predictions,
    describe=describe_masked_predictions,
    controls=(MaskChoice(),),
)


# The numbers that a model puts on a text, such as how relevant it is to another one.

ROOM = 1.25
"""Times the longest bar: its number stands behind its end."""


def chart_numbers(recording: Recording) -> Chart:
    """A bar a number, from 0 to the side of its sign."""
    names, values = list(recording.numbers), list(recording.numbers.values())
    texts = [signed(value) for value in values]
    bars = Bars("", range(len(names)), values, ("accent",), "{y}: {x:.6g}", True, texts=texts)
    ends = min(0.0, *values) * ROOM, max(0.0, *values) * ROOM
    x = Axis("number, as it leaves the model", ends=ends, has_grid=True)
    title = ("Number of the text", f": {names[0]} {texts[0]}" if len(names) == 1 else "")
    return Chart("numbers", *title, x, Axis("", labels=names), (bars,))


def describe_numbers(recording: Recording) -> str:
    values = ", ".join(f"{name} {number(value)}" for name, value in recording.numbers.items())
    return f"The model puts on the text: {values}."


NUMBERS_VIEW = View(
    name="numbers",
    title="Number of the text",
    explain=(
        "The output of the model's last layer, with its sign: no probability. A library that "
        "ranks texts may put a sigmoid on it, which changes no order."
    ),
    needs="numbers",
    content=chart_numbers,
    describe=describe_numbers,
    controls=(),
)


# The share of each position in a classifier's pooling, and its effect on the answer.

CONTRIBUTION, SHARE = "contribution", "share"
WRAP = 42
"""Characters of a line of the axis' title: more would not fit a narrow figure."""


def pooled_of(recording: Recording) -> PooledClassification:
    """The part that this view draws. Raises ValueError where there is none."""
    if not isinstance(recording.classification, PooledClassification):
        raise ValueError("nothing was pooled here: View.applies_to says so")
    return recording.classification


def chart_pooled_positions(recording: Recording, shown: str) -> Chart:
    """A bar a position, the first on top: its contribution to the answer, or its share."""
    pooled = pooled_of(recording)
    if shown == SHARE:
        bars, lines = _shares(pooled), ["share of the pooled vector"]
        title = (f"Taken by {pooled.pooling} pooling", "")
    else:
        bars, lines = _contributions(pooled), [*_wrapped(pooled), _total(pooled)]
        title = ("Contributions", " to the answer")
    zero = Rule(0.0, dash="solid")
    x = Axis("\n".join(lines), from_zero=True, has_grid=True)
    y = Axis("", labels=recording.source, origins=Side("", recording.source).all)
    return Chart(f"pooled_positions {shown}", *title, x, y, (zero, bars))


def effects(pooled: PooledClassification) -> tuple[Tensor, float, str]:
    """The contribution of each position [T], that of the bias, and its aim in words.

    With two classes only the difference of their logits counts: predicted minus other.
    """
    best, contributions = predicted(pooled), pooled.contributions()
    if len(pooled.classes) != 2:
        return contributions[:, best], float(pooled.bias[best]), f"logit({pooled.classes[best]})"
    other = 1 - best
    words = f"logit({pooled.classes[best]}) − logit({pooled.classes[other]})"
    bias = float(pooled.bias[best] - pooled.bias[other])
    return contributions[:, best] - contributions[:, other], bias, words


def _contributions(pooled: PooledClassification) -> Bars:
    added = effects(pooled)[0].tolist()
    inks: list[Ink] = ["above" if value >= 0 else "below" for value in added]
    return Bars("", range(len(added)), added, inks, "{x:+.4f}", is_level=True)


def _shares(pooled: PooledClassification) -> Bars:
    shares, d_model = pooled.taken().tolist(), pooled.outputs.size(1)
    hover = "{x:.4f} ({0})"
    if pooled.pooling == "max":
        hover += f"\nwon {{1}} of {d_model} dimensions"
    more = [(percent(share), round(share * d_model)) for share in shares]
    return Bars("", range(len(shares)), shares, ("above",), hover, is_level=True, more=more)


def _wrapped(pooled: PooledClassification) -> list[str]:
    """The aim of the contributions, in lines that fit a narrow figure."""
    _, _, words = effects(pooled)
    return textwrap.wrap(f"added to {words}", WRAP)


def _total(pooled: PooledClassification) -> str:
    added, bias, _ = effects(pooled)
    total = float(added.sum())
    return f"sum {signed(total, 3)}, bias {signed(bias, 3)}: {signed(total + bias, 3)}"


def describe_pooled_positions(recording: Recording, shown: str) -> str:
    pooled = pooled_of(recording)
    n_positions, d_model = int(pooled.real.sum()), pooled.outputs.size(1)
    if shown == CONTRIBUTION:
        return _contributions_text(recording, pooled)
    if pooled.pooling == "mean":
        share = percent(1 / n_positions)
        return f"The mean takes the same share of each of {n_positions} positions: {share}."
    won = pooled.winners().bincount()
    top = int(won.argmax())
    return (
        f"Of {d_model} dimensions {int(won[top])} have their largest value at "
        f"{in_word(recording.source, top)}; no position has more. "
        f"{int(won.gt(0).sum())} of {n_positions} positions gave something."
    )


def _contributions_text(recording: Recording, pooled: PooledClassification) -> str:
    added, bias, words = effects(pooled)
    total, top = float(added.sum()), int(added.abs().argmax())
    n_positions = int(pooled.real.sum())
    return (
        f"The contributions of {n_positions} positions add up to {signed(total, 3)}; with the bias "
        f"of {signed(bias, 3)} they are {words}, {signed(total + bias, 3)}. The largest is "
        f"{signed(added[top], 3)}, of {in_word(recording.source, top)}."
    )


POOLED_POSITIONS_VIEW = View(
    name="pooled_positions",
    title="Pooled positions",
    explain=(
        "The class is read from one vector that is pooled over positions. Contributions: what each "
        "position adds to the answer; with the bias they add up to it exactly. Shares: how "
        "much of that vector came from where; 1/T each for the mean, and for the maximum the "
        "dimensions that a position won. A hidden word's position is not pooled: it adds nothing."
    ),
    needs="classification",
    content=chart_pooled_positions,
    describe=describe_pooled_positions,
    controls=(Choice("shown", "Show", (CONTRIBUTION, SHARE)),),
    applies=lambda recording: isinstance(recording.classification, PooledClassification),
)


VIEW = (
    CLASS_PROBABILITIES_VIEW,
    MASKED_PREDICTIONS_VIEW,
    NUMBERS_VIEW,
    POOLED_POSITIONS_VIEW,
)
