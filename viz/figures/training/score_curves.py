"""The other validation scores of a training run over its steps."""

from viz.exhibits.chart import Chart, Curve, values_of
from viz.figures.training.loss_curve import History
from viz.figures.training.over_steps import OverSteps, saved, steps_to
from viz.labels import number
from viz.theme import SERIES

HEIGHT = 330
LOGGED = ("step", "tokens", "loss", "learning_rate", "validation_loss")
"""Fields that are not scores."""


def scores(history: History) -> list[OverSteps]:
    """One curve a score, in the order in which training named them."""
    fields = dict.fromkeys(field for row in history for field in row if field not in LOGGED)
    return [saved(history, field, field) for field in fields]


def chart(history: History, log: bool) -> Chart:
    """Lines between few points: a run is scored much more rarely than its loss is logged."""
    marks = [
        # Not in the colours of the losses beside it.
        Curve(it.name, it.steps, it.values, 2 + i % (len(SERIES) - 2), "{y:.2f}", point=7)
        for i, it in enumerate(scores(history))
    ]
    x, y = steps_to(int(history[-1]["step"]), log), values_of("score (0 to 100)")
    return Chart("score_curves", "Validation scores", " over the steps", x, y, marks, HEIGHT)


def describe(history: History) -> str:
    texts = [f"{curve.name} {number(curve.values[-1])}" for curve in scores(history)]
    return f"Last validation scores: {', '.join(texts)}."
