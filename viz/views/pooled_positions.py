"""The share of each position in a classifier's pooling, and its effect on the answer."""

import textwrap

from torch import Tensor

from transformer.analysis.tables.origins import Side
from transformer.recording import Recording
from transformer.recording.decisions import PooledClassification
from viz.exhibits.chart import Axis, Bars, Chart, Ink, Rule
from viz.labels import in_word, percent, signed
from viz.views.class_probabilities import predicted
from viz.views.view import Choice, View

CONTRIBUTION, SHARE = "contribution", "share"
WRAP = 42
"""Characters of a line of the axis' title: more would not fit a narrow figure."""


def pooled_of(recording: Recording) -> PooledClassification:
    """The part that this view draws. Raises ValueError where there is none."""
    if not isinstance(recording.classification, PooledClassification):
        raise ValueError("nothing was pooled here: View.applies_to says so")
    return recording.classification


def chart(recording: Recording, shown: str) -> Chart:
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


def describe(recording: Recording, shown: str) -> str:
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


VIEW = View(
    name="pooled_positions",
    title="Pooled positions",
    explain=(
        "The class is read from one vector that is pooled over positions. Contributions: what each "
        "position adds to the answer; with the bias they add up to it exactly. Shares: how "
        "much of that vector came from where; 1/T each for the mean, and for the maximum the "
        "dimensions that a position won. A hidden word's position is not pooled: it adds nothing."
    ),
    needs="classification",
    content=chart,
    describe=describe,
    controls=(Choice("shown", "Show", (CONTRIBUTION, SHARE)),),
    applies=lambda recording: isinstance(recording.classification, PooledClassification),
)
