"""At which snapshot of its training did a head take on its role?"""

from collections.abc import Iterator

from torch import Tensor

from transformer.analysis.metrics.measure import metrics_of
from transformer.training.history import list_snapshots
from transformer.training.snapshots import Course, roles, watching
from viz.lessons.subject import Subject
from viz.lessons.task import Reply, Task, result_of


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


def ask(subject: Subject) -> str:
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


def truth(subject: Subject) -> int:
    _, values, least = _measured(subject)
    result = int(roles(values, least))
    return (
        len(_steps(subject)) if result < 0 else _steps(subject).index(course(subject).steps[result])
    )


def hint(subject: Subject, answer: Reply) -> str:
    title, values, _ = _measured(subject)
    return f"{title}: {values[0]:.2f} before the training, {values[-1]:.2f} at its end."


def explain(subject: Subject) -> str:
    title, values, _ = _measured(subject)
    option, place = options(subject)[truth(subject)], truth(subject)
    if place == len(_steps(subject)):
        return f"{title} began at {values[0]:.2f} and ended at {values[-1]:.2f}: {option}."
    began, ended = f"{values[0]:.2f}", f"{values[-1]:.2f}"
    return f"From {option} on, {title.lower()} stays nearer to {ended} than to {began}."


def opens(subject: Subject) -> dict[str, object]:
    return {"metric": _metric(subject)}


TASK = Task(
    "emerged",
    "choice",
    ask,
    truth,
    hint,
    explain,
    options=options,
    needs=("snapshots",),
    of_sentence=False,
    run=run,
    of_row=False,
    opens=opens,
)
