"""Figures of the page Training: curves over the steps, and label smoothing."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import torch
from torch import Tensor

from transformer.analysis.tables import Side
from transformer.recording import Recording
from transformer.token import Token
from transformer.training.task import (
    TrainingConfig,
    cross_entropy,
    divergence,
    entropy,
    inverse_square_root,
    rate,
    smoothed_target,
)
from viz.exhibits.chart import Axis, Bars, Chart, Curve, Mark, Point, Rule, values_of
from viz.labels import in_place, in_word, number, percent
from viz.theme import SERIES

# Label smoothing at one position: the distribution that is asked for, and the one predicted.

N_TOP = 10
"""Pieces with a row of their own; all others share the last one."""
ROW = 40
"""Pixels a row."""
NO_TARGET = "This model writes no target, so no label can be smoothed."


@dataclass(frozen=True)
class Row:
    """One piece, or all that have no row of their own, in both distributions."""

    token: Token | None
    """None: the others together."""
    n_pieces: int
    smoothed: float
    predicted: float


def why_not(recording: Recording) -> str | None:
    """Say why a recording has no target pieces to smooth; None where it has."""
    n = len(recording.target)
    return None if n and recording.logits.dim() == 2 and len(recording.logits) == n else NO_TARGET


def log_probs_at(recording: Recording, position: int) -> Tensor:
    """The prediction of the model for a position of the target: [V], in nats, float64."""
    return recording.logits[position].cpu().double().log_softmax(-1)


def rows(
    target: int, smoothed: Tensor, log_probs: Tensor, token: Callable[[int], Token]
) -> list[Row]:
    """The likeliest pieces, the target always among them, then the others together.

    smoothed and log_probs: [V]. token: id -> token.
    """
    probs = log_probs.exp()
    top = probs.topk(min(N_TOP, len(probs))).indices.tolist()
    if target not in top:
        top = [*top[:-1], target]
    own = [Row(token(i), 1, float(smoothed[i]), float(probs[i])) for i in top]
    others = torch.ones(len(probs), dtype=torch.bool)
    others[top] = False
    n = int(others.sum())
    rest = Row(None, n, float(smoothed[others].sum()), float(probs[others].sum()))
    return [*own, rest] if n else own


def chart_label_smoothing(rows: Sequence[Row], position: int, tokens: Sequence[Token]) -> Chart:
    """Two bars per piece, with their numbers beside them. tokens: of the target."""
    origin = Side("target", tokens).at([position])
    # Room on the right for the number beside the longest bar.
    x = Axis(
        "probability",
        ends=(0, 1.18),
        has_grid=True,
        ticks=[(share / 4, f"{25 * share} %") for share in range(5)],
    )
    y = Axis(
        "",
        labels=[row.token or f"{row.n_pieces:,} others" for row in rows],
        origins=[origin] * len(rows),
    )
    marks = [
        _bars("smoothed target", [row.smoothed for row in rows], 1),
        _bars("prediction", [row.predicted for row in rows], 0),
    ]
    more = f" at position {position}: {in_word(tokens, position)}"
    name, height = f"label_smoothing {position}", ROW * len(rows)
    return Chart(name, "Asked for and predicted", more, x, y, marks, height)


def _bars(name: str, probs: list[float], series: int) -> Bars:
    return Bars(
        name,
        range(len(probs)),
        probs,
        (series,),
        f"{{y}}\n{name} {{x:.6g}}",
        is_level=True,
        width=0.8,
        texts=[percent(prob) for prob in probs],
    )


def describe_label_smoothing(rows: Sequence[Row], position: int, tokens: Sequence[Token]) -> str:
    target = tokens[position]
    own = next(row for row in rows if row.token and row.token.id == target.id)
    best = rows[0]  # the rows are sorted by it; the others together stand last
    likeliest = in_place(tokens[:position], best.token or target)
    return (
        f"At position {position} the target is {in_word(tokens, position)}: the smoothed target "
        f"gives it {percent(own.smoothed)}, the model {percent(own.predicted)}; the likeliest "
        f"piece is {likeliest} with {percent(best.predicted)}."
    )


# The loss at one position over the smoothing: the entropy of the target and what lies above it.

SMOOTHING_PARTS_HEIGHT = 170
LARGEST, STEP = 0.5, 0.01
"""The largest smoothing that can be chosen, and its step."""


@dataclass(frozen=True)
class Parts:
    """One loss, in nats: cross_entropy = divergence + entropy, each computed by itself."""

    epsilon: float
    divergence: float
    """KL(smoothed target || prediction): what the model can still learn."""
    entropy: float
    """The entropy of the smoothed target: the lower bound of the loss."""
    cross_entropy: float


def parts(target: int, log_probs: Tensor, epsilon: float) -> Parts:
    """The loss of a prediction [V] against a smoothed target."""
    smoothed = smoothed_target(target, len(log_probs), epsilon)
    values = (
        divergence(smoothed, log_probs),
        entropy(smoothed),
        cross_entropy(smoothed, log_probs),
    )
    return Parts(epsilon, *map(float, values))


def all_parts(target: int, log_probs: Tensor) -> list[Parts]:
    """The same for every smoothing that can be chosen."""
    n = round(LARGEST / STEP)
    return [parts(target, log_probs, i / n * LARGEST) for i in range(n + 1)]


def chart_smoothing_parts(curve: list[Parts], chosen: Parts, position: int) -> Chart:
    """Entropy and divergence stacked, so that their upper edge is the cross-entropy."""
    epsilons, hover = [each.epsilon for each in curve], "{y:.4f} nats"
    parts = (
        ("entropy of the target", [each.entropy for each in curve], 1),
        ("KL divergence", [each.divergence for each in curve], 0),
    )
    areas = [
        Curve(name, epsilons, values, series, hover, width=1, fill="stack")
        for name, values, series in parts
    ]
    at = Rule(chosen.epsilon, ink="accent", dash="solid")
    x, y = Axis("ε", ends=(0, LARGEST), hover="{x:.2f}"), values_of("nats")
    title = ("The loss and its two parts", " over ε")
    return Chart(f"smoothing_parts {position}", *title, x, y, (*areas, at), SMOOTHING_PARTS_HEIGHT)


def describe_smoothing_parts(chosen: Parts) -> str:
    return (
        f"With a smoothing of {chosen.epsilon:.2f} the cross-entropy of "
        f"{chosen.cross_entropy:.4f} nats is a KL divergence of {chosen.divergence:.4f} nats and "
        f"an entropy of the target of {chosen.entropy:.4f} nats."
    )


# Numbers over the steps of a training run, and the axes of a chart of them.


@dataclass(frozen=True)
class OverSteps:
    """One value per step."""

    name: str
    steps: tuple[int, ...]
    values: tuple[float, ...]


def saved(history: Sequence[Mapping[str, float]], field: str, name: str) -> OverSteps:
    """A field of a checkpoint's history; most rows lack most fields."""
    rows = [row for row in history if field in row]
    steps, values = tuple(int(row["step"]) for row in rows), tuple(row[field] for row in rows)
    return OverSteps(name, steps, values)


def steps_to(last: int, log: bool) -> Axis:
    """The horizontal axis from the first step to the last; hovering says the step in full."""
    ends = (1, 1.2 * max(1, last)) if log else (0, 1.02 * last)
    return Axis("step", log, ends, format=",d", hover="step {x:,d}")


# The learning rate over the steps: AIAYN's schedule, a recipe's own, and the rates of a run.

LEARNING_RATE_HEIGHT = 330
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


def chart_learning_rate(
    paper: OverSteps, recipe: OverSteps | None, recorded: OverSteps, log: bool
) -> Chart:
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
    return Chart(
        "learning_rate", "Learning rate", " over the steps", x, y, marks, LEARNING_RATE_HEIGHT
    )


def _line(curve: OverSteps, series: int) -> Curve:
    return Curve(curve.name, curve.steps, curve.values, series, "{y:.4g}")


def describe_learning_rate(paper: OverSteps, recipe: OverSteps | None) -> str:
    step, highest = peak(paper)
    text = f"The paper's learning rate peaks at step {step:,} with {highest:.4g}"
    if recipe is None:
        return f"{text}."
    step, highest = peak(recipe)
    return f"{text}; that of the {recipe.name} reaches {highest:.4g} at step {step:,}."


# The loss of a training run over its steps, as saved with the checkpoint.

LOSS_CURVE_HEIGHT = 330
History = Sequence[Mapping[str, float]]


def chart_loss_curve(history: History, floor: float | None, log: bool) -> Chart:
    """Training and validation loss. floor: the entropy of the smoothed target, where known."""
    training = saved(history, "loss", "training, smoothed labels")
    validation = saved(history, "validation_loss", "validation, plain labels")
    hover = "{y:.4f} nats"
    x, y = steps_to(int(history[-1]["step"]), log), values_of("nats per token")
    marks: list[Mark] = [
        Curve(training.name, training.steps, training.values, 0, hover, 1.2),
        Curve(validation.name, validation.steps, validation.values, 1, hover, point=7),
    ]
    if floor is not None:
        name, ends = f"entropy of the smoothed target, {floor:.4f} nats", x.ends or (0, 1)
        marks.append(Curve(name, ends, (floor, floor), "dim", width=1, dash="dot"))
    return Chart("loss_curve", "Loss", " over the steps", x, y, marks, LOSS_CURVE_HEIGHT)


def describe_loss_curve(history: History) -> str:
    parts = [
        f"the {name} loss goes from {curve.values[0]:.4f} nats at step {curve.steps[0]:,} "
        f"to {curve.values[-1]:.4f} at step {curve.steps[-1]:,}"
        for name, field in (("training", "loss"), ("validation", "validation_loss"))
        if (curve := saved(history, field, name)).steps
    ]
    text = "; ".join(parts) or "no loss was saved"
    return f"{text[0].upper()}{text[1:]}."


# The other validation scores of a training run over its steps.

SCORE_CURVES_HEIGHT = 330
LOGGED = ("step", "tokens", "loss", "learning_rate", "validation_loss")
"""Fields that are not scores."""


def scores(history: History) -> list[OverSteps]:
    """One curve a score, in the order in which training named them."""
    fields = dict.fromkeys(field for row in history for field in row if field not in LOGGED)
    return [saved(history, field, field) for field in fields]


def chart_score_curves(history: History, log: bool) -> Chart:
    """Lines between few points: a run is scored much more rarely than its loss is logged."""
    marks = [
        # Not in the colours of the losses beside it.
        Curve(it.name, it.steps, it.values, 2 + i % (len(SERIES) - 2), "{y:.2f}", point=7)
        for i, it in enumerate(scores(history))
    ]
    x, y = steps_to(int(history[-1]["step"]), log), values_of("score (0 to 100)")
    return Chart(
        "score_curves", "Validation scores", " over the steps", x, y, marks, SCORE_CURVES_HEIGHT
    )


def describe_score_curves(history: History) -> str:
    texts = [f"{curve.name} {number(curve.values[-1])}" for curve in scores(history)]
    return f"Last validation scores: {', '.join(texts)}."
