"""The loss of a training run over its steps, as saved with the checkpoint."""

from collections.abc import Mapping, Sequence

from viz.exhibits.chart import Chart, Curve, Mark, values_of
from viz.figures.training.over_steps import saved, steps_to

HEIGHT = 330
History = Sequence[Mapping[str, float]]


def chart(history: History, floor: float | None, log: bool) -> Chart:
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
    return Chart("loss_curve", "Loss", " over the steps", x, y, marks, HEIGHT)


def describe(history: History) -> str:
    parts = [
        f"the {name} loss goes from {curve.values[0]:.4f} nats at step {curve.steps[0]:,} "
        f"to {curve.values[-1]:.4f} at step {curve.steps[-1]:,}"
        for name, field in (("training", "loss"), ("validation", "validation_loss"))
        if (curve := saved(history, field, name)).steps
    ]
    text = "; ".join(parts) or "no loss was saved"
    return f"{text[0].upper()}{text[1:]}."
