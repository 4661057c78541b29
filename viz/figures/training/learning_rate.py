"""The learning rate over the steps: AIAYN's schedule, a recipe's own, and the rates of a run."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Literal

from transformer.training.config import TrainingConfig
from transformer.training.schedule import inverse_square_root, rate
from viz.exhibits.chart import Chart, Curve, Mark, Point, values_of
from viz.figures.training.over_steps import OverSteps, steps_to

HEIGHT = 330
N_POINTS = 400
WARMUPS = 5
"""The least length of the paper's curve, in warm-ups."""


def paper_curve(d_model: int, warmup_steps: int, last: int) -> OverSteps:
    """AIAYN's rate (section 5.3), its peak among the points."""
    steps = _spread(max(last, WARMUPS * warmup_steps), (warmup_steps,))
    values = tuple(inverse_square_root(step, d_model, warmup_steps) for step in steps)
    return OverSteps("Attention Is All You Need", steps, values)


def recipe_curve(recipe: str, training: TrainingConfig) -> OverSteps:
    """The rate that a recipe prescribes; steps count from 1, as in a history."""
    decay_steps = round(training.steps * training.decay_fraction)
    corners = (training.warmup_steps, training.steps - decay_steps + 1)
    steps = _spread(training.steps, corners)
    values = tuple(
        training.learning_rate
        * rate(step - 1, training.steps, training.warmup_steps, training.decay_fraction)
        for step in steps
    )
    return OverSteps(f"recipe {recipe}", steps, values)


def _spread(last: int, corners: Iterable[int]) -> tuple[int, ...]:
    """Steps from 1 to last, even on both kinds of axis, and those where a curve bends."""
    even = {1 + round((last - 1) * i / N_POINTS) for i in range(N_POINTS + 1)}
    even_log = {round(last ** (i / N_POINTS)) for i in range(N_POINTS + 1)}
    return tuple(sorted(even | even_log | {step for step in corners if 1 <= step <= last}))


def last_step(*curves: OverSteps | None) -> int:
    """The largest step of all curves, 1 without any: a run may be longer than its recipe."""
    return max((step for curve in curves if curve for step in curve.steps), default=1)


def peak(curve: OverSteps) -> tuple[int, float]:
    """(step, rate) where the rate is highest, first of equals."""
    highest = max(curve.values)
    return curve.steps[curve.values.index(highest)], highest


def chart(paper: OverSteps, recipe: OverSteps | None, recorded: OverSteps, log: bool) -> Chart:
    """The paper's curve with its peak; the recipe's; the rates that were saved as points."""
    marks: list[Mark] = [_line(paper, 0)]
    if recipe is not None:
        marks.append(_line(recipe, 1))
    if recorded.steps:
        marks.append(replace(_line(recorded, 2), width=0, point=4))
    step, highest = peak(paper)
    # To the side where the chart is wide: the peak stands left, on a log axis right.
    side: Literal["left", "right"] = "left" if log else "right"
    marks.append(Point(step, highest, f"peak {highest:.4g} at step {step:,}", side))
    x, y = steps_to(last_step(paper, recipe, recorded), log), values_of("learning rate")
    return Chart("learning_rate", "Learning rate", " over the steps", x, y, marks, HEIGHT)


def _line(curve: OverSteps, series: int) -> Curve:
    return Curve(curve.name, curve.steps, curve.values, series, "{y:.4g}")


def describe(paper: OverSteps, recipe: OverSteps | None) -> str:
    step, highest = peak(paper)
    text = f"The paper's learning rate peaks at step {step:,} with {highest:.4g}"
    if recipe is None:
        return f"{text}."
    step, highest = peak(recipe)
    return f"{text}; that of the {recipe.name} reaches {highest:.4g} at step {step:,}."
