"""The decision of a classifier: the probability of each class."""

from transformer.recording import Recording
from transformer.recording.decisions import Classification
from viz.exhibits.chart import Chart
from viz.figures import probability_bars
from viz.labels import number, percent
from viz.views.view import View

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


def chart(recording: Recording) -> Chart:
    """A bar a class, from 0 to 1; in the model's order, of very many the most probable first."""
    result = classification_of(recording)
    rows = ranked(result)[:MOST] if len(result.classes) > MOST else range(len(result.classes))
    names = [result.classes[i] for i in rows]
    probs, logits = result.probs[list(rows)].tolist(), result.logits[list(rows)].tolist()
    best = rows.index(predicted(result))
    title = ("Predicted", f" {names[best]}")
    return probability_bars.chart("class_probabilities", title, names, probs, best, logits)


def describe(recording: Recording) -> str:
    result = classification_of(recording)
    best, n = predicted(result), len(result.classes)
    named = ranked(result)[:SAID] if n > MOST else range(n)
    chances = ", ".join(f"{result.classes[i]} {percent(float(result.probs[i]))}" for i in named)
    others = f", and {n - SAID:,} others" if n > MOST else ""
    return (
        f"Predicted: {result.classes[best]}, with a logit of {number(result.logits[best])}. "
        f"The probabilities: {chances}{others}."
    )


VIEW = View(
    name="class_probabilities",
    title="Classes",
    explain=(
        "The softmax of the logits: a probability for each class, 1 in all. Where a text may be of "
        "several classes, the sigmoid of each logit."
    ),
    needs="classification",
    content=chart,
    describe=describe,
    controls=(),
)
