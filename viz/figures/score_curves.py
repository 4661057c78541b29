"""The other validation scores of a training run over its steps."""

import plotly.graph_objects as go

from viz.figures.curve import Curve, curve_layout, line, saved, step_axis, value_axis
from viz.figures.loss_curve import History
from viz.theme import SERIES, Theme

HEIGHT = 440
LOGGED = ("step", "tokens", "loss", "learning_rate", "validation_loss")
"""Fields that are not scores."""


def scores(history: History) -> list[Curve]:
    """One curve a score, in the order in which training named them."""
    fields = dict.fromkeys(field for row in history for field in row if field not in LOGGED)
    return [saved(history, field, field) for field in fields]


def draw(history: History, log: bool, theme: Theme) -> go.Figure:
    """Lines between few points: a run is scored much more rarely than its loss is logged."""
    title = "<b>Validation scores</b> over the steps"
    figure = go.Figure(layout=curve_layout(theme, "score_curves", title, HEIGHT))
    for i, curve in enumerate(scores(history)):
        colour = SERIES[2 + i % (len(SERIES) - 2)]  # not those of the losses beside it
        marker = {"size": 7}
        figure.add_trace(line(curve, colour, "%{y:.2f}", mode="lines+markers", marker=marker))
    figure.update_xaxes(step_axis(theme, int(history[-1]["step"]), log))
    figure.update_yaxes(value_axis(theme, "score (0 to 100)"))
    return figure


def describe(history: History) -> str:
    said = [f"{curve.name} {curve.values[-1]:.2f}" for curve in scores(history)]
    return f"Last validation scores: {', '.join(said)}."
