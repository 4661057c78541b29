"""The learning rate over the steps: AIAYN's schedule, a recipe's own, and the rates of a run."""

import math
from collections.abc import Iterable

import plotly.graph_objects as go

from transformer.training.config import TrainingConfig
from transformer.training.schedule import inverse_square_root, rate
from viz.figures.curve import Curve, curve_layout, line, step_axis, value_axis
from viz.figures.layout import SMALL
from viz.theme import SERIES, Theme

HEIGHT = 440
N_POINTS = 400
WARMUPS = 5
"""How many times the warm-up the paper's curve goes on at least."""


def paper_curve(d_model: int, warmup_steps: int, last: int) -> Curve:
    """AIAYN's rate (section 5.3), its peak among the points."""
    steps = _spread(max(last, WARMUPS * warmup_steps), (warmup_steps,))
    values = tuple(inverse_square_root(step, d_model, warmup_steps) for step in steps)
    return Curve("Attention Is All You Need", steps, values)


def recipe_curve(recipe: str, training: TrainingConfig) -> Curve:
    """The rate that a recipe prescribes; steps count from 1, as in a history."""
    decay_steps = round(training.steps * training.decay_fraction)
    corners = (training.warmup_steps, training.steps - decay_steps + 1)
    steps = _spread(training.steps, corners)
    values = tuple(
        training.learning_rate
        * rate(step - 1, training.steps, training.warmup_steps, training.decay_fraction)
        for step in steps
    )
    return Curve(f"recipe {recipe}", steps, values)


def _spread(last: int, corners: Iterable[int]) -> tuple[int, ...]:
    """Steps from 1 to last, even on both kinds of axis, and those where a curve bends."""
    even = {1 + round((last - 1) * i / N_POINTS) for i in range(N_POINTS + 1)}
    even_log = {round(last ** (i / N_POINTS)) for i in range(N_POINTS + 1)}
    return tuple(sorted(even | even_log | {step for step in corners if 1 <= step <= last}))


def last_step(*curves: Curve | None) -> int:
    """The largest step of all curves, 1 without any: a run may be longer than its recipe."""
    return max((step for curve in curves if curve for step in curve.steps), default=1)


def peak(curve: Curve) -> tuple[int, float]:
    """(step, rate) where the rate is highest, first of equals."""
    highest = max(curve.values)
    return curve.steps[curve.values.index(highest)], highest


def draw(paper: Curve, recipe: Curve | None, recorded: Curve, log: bool, theme: Theme) -> go.Figure:
    """The paper's curve with its peak; the recipe's; the rates that were saved as points."""
    title = "<b>Learning rate</b> over the steps"
    figure = go.Figure(layout=curve_layout(theme, "learning_rate", title, HEIGHT))
    figure.add_trace(line(paper, SERIES[0], "%{y:.4g}"))
    if recipe is not None:
        figure.add_trace(line(recipe, SERIES[1], "%{y:.4g}"))
    if recorded.steps:
        marker = {"color": SERIES[2], "size": 4}
        figure.add_trace(line(recorded, SERIES[2], "%{y:.4g}", mode="markers", marker=marker))
    _mark_peak(figure, paper, log, theme)
    figure.update_xaxes(step_axis(theme, last_step(paper, recipe, recorded), log))
    figure.update_yaxes(value_axis(theme, "learning rate"))
    return figure


def _mark_peak(figure: go.Figure, paper: Curve, log: bool, theme: Theme) -> None:
    """A point, and its numbers on a ground of their own, as other curves may pass there."""
    step, highest = peak(paper)
    marker = {"color": theme.accent, "size": 9}
    figure.add_scatter(
        x=[step], y=[highest], mode="markers", marker=marker, hoverinfo="skip", showlegend=False
    )
    figure.add_annotation(
        x=math.log10(step) if log else step,
        y=highest,
        text=f"peak {highest:.4g} at step {step:,}",
        showarrow=False,
        # To the side where the figure is wide: the peak stands left, on a log axis right.
        xanchor="right" if log else "left",
        xshift=-8 if log else 8,
        yanchor="bottom",
        yshift=4,
        bgcolor=theme.background,
        font={"size": SMALL, "color": theme.text},
    )


def describe(paper: Curve, recipe: Curve | None) -> str:
    step, highest = peak(paper)
    said = f"The paper's learning rate peaks at step {step:,} with {highest:.4g}"
    if recipe is None:
        return f"{said}."
    step, highest = peak(recipe)
    return f"{said}; that of the {recipe.name} reaches {highest:.4g} at step {step:,}."
