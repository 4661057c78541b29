"""At which snapshot of its training did a head take on its role?"""

from collections.abc import Iterator

from torch import Tensor

from transformer.analysis.metrics.measure import metrics_of
from transformer.training.history import list_snapshots
from transformer.training.snapshots import Course, roles, watching
from viz.lessons.seen import Seen
from viz.lessons.task import Reply, Task, result_of


def run(seen: Seen, before: Course | None) -> Iterator[Course]:
    """The sentence through all snapshots."""
    snapshots = list_snapshots(seen.checkpoint.path)
    message = (seen.checkpoint, seen.text, seen.recording, snapshots, seen.turn, before)
    return watching(*message)


def course(seen: Seen) -> Course:
    """Return the whole course, as it was run."""
    whole: Course = result_of(seen, run)
    return whole


def _steps(seen: Seen) -> list[int]:
    return [each.step for each in list_snapshots(seen.checkpoint.path)]


def ask(seen: Seen) -> str:
    return f"From which step on did {seen.head_name} do on this sentence what it does now?"


def options(seen: Seen) -> tuple[str, ...]:
    return (*(f"step {step:,}" for step in _steps(seen)), "it never changed much")


def _metric(seen: Seen) -> str:
    return "alignment" if "alignment" in metrics_of(seen.attention) else "entropy"


def _measured(seen: Seen) -> tuple[str, Tensor, float]:
    """Title of the metric, its values at every snapshot [N], and the least change of a role."""
    metric, place = metrics_of(seen.attention)[_metric(seen)], seen.place
    weights = course(seen).weights(place.kind, place.layer, place.head)  # [N, Q, K]
    return metric.title, metric.compute(weights), metric.least_change


def truth(seen: Seen) -> int:
    _, values, least = _measured(seen)
    result = int(roles(values, least))
    return len(_steps(seen)) if result < 0 else _steps(seen).index(course(seen).steps[result])


def hint(seen: Seen, answer: Reply) -> str:
    title, values, _ = _measured(seen)
    return f"{title}: {values[0]:.2f} before the training, {values[-1]:.2f} at its end."


def explain(seen: Seen) -> str:
    title, values, _ = _measured(seen)
    option, place = options(seen)[truth(seen)], truth(seen)
    if place == len(_steps(seen)):
        return f"{title} began at {values[0]:.2f} and ended at {values[-1]:.2f}: {option}."
    began, ended = f"{values[0]:.2f}", f"{values[-1]:.2f}"
    return f"From {option} on, {title.lower()} stays nearer to {ended} than to {began}."


def opens(seen: Seen) -> dict[str, object]:
    return {"metric": _metric(seen)}


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
