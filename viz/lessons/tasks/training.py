"""Tasks on training: when heads emerge, the learning rate, label smoothing."""

import math
from collections.abc import Iterator

from torch import Tensor

from transformer.analysis.metrics.metrics import metrics_of
from transformer.training.history import list_snapshots
from transformer.training.snapshots import Course, roles, watching
from transformer.training.task import cross_entropy, inverse_square_root, smoothed_target
from viz.lessons.subject import EPSILON, Subject, named, second_least_sure
from viz.lessons.task import Reason, Reply, Task, result_of

# At which snapshot of its training did a head take on its role?


def run(subject: Subject, before: Course | None) -> Iterator[Course]:
    """The sentence through all snapshots."""
    snapshots = list_snapshots(subject.checkpoint.path)
    message = (subject.checkpoint, subject.text, subject.recording, snapshots, subject.turn, before)
    return watching(*message)


def course(subject: Subject) -> Course:
    """Return the whole course, as it was run."""
    whole: Course = result_of(subject, run)
    return whole


def _steps(subject: Subject) -> list[int]:
    return [each.step for each in list_snapshots(subject.checkpoint.path)]


def ask_emerged(subject: Subject) -> str:
    return f"From which step on did {subject.head_name} do on this sentence what it does now?"


def options(subject: Subject) -> tuple[str, ...]:
    return (*(f"step {step:,}" for step in _steps(subject)), "it never changed much")


def _metric(subject: Subject) -> str:
    return "alignment" if "alignment" in metrics_of(subject.attention) else "entropy"


def _measured(subject: Subject) -> tuple[str, Tensor, float]:
    """Title of the metric, its values at every snapshot [N], and the least change of a role."""
    metric, place = metrics_of(subject.attention)[_metric(subject)], subject.place
    weights = course(subject).weights(place.kind, place.layer, place.head)  # [N, Q, K]
    return metric.title, metric.compute(weights), metric.least_change


def truth_emerged(subject: Subject) -> int:
    _, values, least = _measured(subject)
    result, steps = int(roles(values, least)), _steps(subject)
    return len(steps) if result < 0 else steps.index(course(subject).steps[result])


def hint_emerged(subject: Subject, answer: Reply) -> str:
    (title, values, _), truth, n = _measured(subject), truth_emerged(subject), len(_steps(subject))
    text = f"{title}: {values[0]:.2f} before the training, {values[-1]:.2f} at its end."
    assert isinstance(answer, int)
    if n in (truth, answer):
        return text
    return f"{text} It was {'earlier' if truth < answer else 'later'}."


def explain_emerged(subject: Subject) -> str:
    title, values, _ = _measured(subject)
    place = truth_emerged(subject)
    option = options(subject)[place]
    if place == len(_steps(subject)):
        return f"{title} began at {values[0]:.2f} and ended at {values[-1]:.2f}: {option}."
    began, ended = f"{values[0]:.2f}", f"{values[-1]:.2f}"
    return f"From {option} on, {title.lower()} stays nearer to {ended} than to {began}."


def opens_emerged(subject: Subject) -> dict[str, object]:
    return {"metric": _metric(subject)}


EMERGED_TASK = Task(
    "emerged",
    "choice",
    ask_emerged,
    truth_emerged,
    hint_emerged,
    explain_emerged,
    options=options,
    needs=("snapshots",),
    of_sentence=False,
    run=run,
    of_row=False,
    opens=opens_emerged,
    reasons=(
        Reason(
            lambda it: len(_steps(it)) - 1 if truth_emerged(it) < len(_steps(it)) else None,
            lambda it: "It did so at the end of the training, and at an earlier snapshot, too.",
        ),
    ),
)


# The paper's learning rate at a step, as a share of its peak.


def ask_rate(subject: Subject) -> str:
    warmup, step = subject.arguments
    return f"The rate peaks at step {warmup:,}. Which share of the peak is it at step {step:,}?"


def truth_rate(subject: Subject) -> float:
    warmup, step = (max(1, each) for each in subject.arguments)
    peak = inverse_square_root(warmup, 512, warmup)
    return 100 * inverse_square_root(step, 512, warmup) / peak


def hint_rate(subject: Subject, answer: Reply) -> str:
    warmup, step = subject.arguments
    if step <= warmup:
        return f"Up to step {warmup:,} it grows evenly from 0: which part of that is {step:,}?"
    times = f"{step / warmup:.3g} times the warm-up"
    return f"Step {step:,} is {times}: divide 100 % by the root of that."


def explain_rate(subject: Subject) -> str:
    warmup, step = subject.arguments
    why = f"{step:,} / {warmup:,}" if step <= warmup else f"1 / √({step:,} / {warmup:,})"
    return f"{why} = {truth_rate(subject):.0f} % of the peak."


def other_rate(subject: Subject) -> float:
    """With the root where there is none, and without it where there is one."""
    warmup, step = (max(1, each) for each in subject.arguments)
    return 100 * (math.sqrt(step / warmup) if step <= warmup else warmup / step)


def says_other_rate(subject: Subject) -> str:
    if subject.arguments[1] <= subject.arguments[0]:
        return "Roots come after the warm-up: up to its end the rate grows evenly."
    return "So it would fall as 1 / step, but it falls more slowly, as 1 / √step."


RATE_TASK = Task(
    "rate",
    "number",
    ask_rate,
    truth_rate,
    hint_rate,
    explain_rate,
    unit="%",
    takes=("warm-up steps", "a step"),
    of_sentence=False,
    of_row=False,
    reasons=(Reason(other_rate, says_other_rate),),
)


# The loss of one word under label smoothing.


def _losses(subject: Subject) -> tuple[Tensor, int]:
    """-ln p of every token at that position [V], and which of them is written there."""
    at = second_least_sure(subject.recording)
    logits = subject.recording.require_logits()[at].cpu().double()
    return -logits.log_softmax(-1), subject.recording.target[at].id


def ask_smoothed_loss(subject: Subject) -> str:
    word = named(subject.recording.target)[second_least_sure(subject.recording)]
    return (
        f"What is the loss of ‘{word}’ with ε = {EPSILON}? Add {1 - EPSILON} times the first "
        f"number and {EPSILON} times the second."
    )


def material(subject: Subject) -> tuple[tuple[str, str], ...]:
    losses, token = _losses(subject)
    return (
        ("−ln p of this word", f"{float(losses[token]):.3f}"),
        (f"−ln p, mean over all {len(losses):,} tokens", f"{float(losses.mean()):.3f}"),
    )


def truth_smoothed_loss(subject: Subject) -> float:
    losses, token = _losses(subject)
    target = smoothed_target(token, len(losses), EPSILON)
    return float(cross_entropy(target, -losses))


def plain_loss(subject: Subject) -> float:
    """-ln p of the word."""
    losses, token = _losses(subject)
    return float(losses[token])


def hint_smoothed_loss(subject: Subject, answer: Reply) -> str:
    part = EPSILON * float(_losses(subject)[0].mean())
    return f"All tokens together add {part:.3f}, the word adds {1 - EPSILON} times its own number."


def explain_smoothed_loss(subject: Subject) -> str:
    plain = plain_loss(subject)
    text = f"{truth_smoothed_loss(subject):.2f} nats instead of {plain:.2f}: "
    if truth_smoothed_loss(subject) < plain:
        return f"{text}where a model is as unsure as this one, it costs less."
    return f"{text}to be too sure costs something now."


def opens_smoothed_loss(subject: Subject) -> dict[str, object]:
    return {"position": second_least_sure(subject.recording)}


SMOOTHED_LOSS_TASK = Task(
    "smoothed_loss",
    "number",
    ask_smoothed_loss,
    truth_smoothed_loss,
    hint_smoothed_loss,
    explain_smoothed_loss,
    material,
    decimals=2,
    unit="nats",
    needs=("writes",),
    of_row=False,
    opens=opens_smoothed_loss,
    reasons=(
        Reason(plain_loss, lambda it: "That is the loss without smoothing."),
        Reason(
            lambda it: (1 - EPSILON) * plain_loss(it),
            lambda it: "That is the word's part: the part of all tokens is added to it.",
        ),
    ),
)


TASK = (
    EMERGED_TASK,
    RATE_TASK,
    SMOOTHED_LOSS_TASK,
)
