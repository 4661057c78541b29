"""The loss of a training run over its steps, as saved with the checkpoint."""

from collections.abc import Mapping, Sequence

import plotly.graph_objects as go

from viz.figures.curve import curve_layout, line, saved, step_axis, value_axis
from viz.figures.layout import SMALL
from viz.theme import SERIES, Theme

HEIGHT = 440
History = Sequence[Mapping[str, float]]


def draw(history: History, floor: float | None, log: bool, theme: Theme) -> go.Figure:
    """Training and validation loss. floor: the entropy of the smoothed target, where known."""
    title = "<b>Loss</b> over the steps"
    figure = go.Figure(layout=curve_layout(theme, "loss_curve", title, HEIGHT))
    training = saved(history, "loss", "training, smoothed labels")
    validation = saved(history, "validation_loss", "validation, plain labels")
    thin = {"color": SERIES[0], "width": 1.2}
    figure.add_trace(line(training, SERIES[0], "%{y:.4f} nats", line=thin))
    figure.add_trace(
        line(validation, SERIES[1], "%{y:.4f} nats", mode="lines+markers", marker={"size": 7})
    )
    if floor is not None:
        figure.add_hline(
            floor,
            line={"color": theme.dim, "width": 1, "dash": "dot"},
            annotation_text=f"entropy of the smoothed target, {floor:.4f} nats",
            annotation_position="top left",  # training losses are above, and at first far
            annotation_font={"size": SMALL, "color": theme.dim},
        )
    figure.update_xaxes(step_axis(theme, int(history[-1]["step"]), log))
    figure.update_yaxes(value_axis(theme, "nats per token"))
    return figure


def describe(history: History) -> str:
    said = [
        f"the {name} loss goes from {curve.values[0]:.4f} nats at step {curve.steps[0]:,} "
        f"to {curve.values[-1]:.4f} at step {curve.steps[-1]:,}"
        for name, field in (("training", "loss"), ("validation", "validation_loss"))
        if (curve := saved(history, field, name)).steps
    ]
    text = "; ".join(said) or "no loss was saved"
    return f"{text[0].upper()}{text[1:]}."
