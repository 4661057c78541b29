"""Heads over steps: one head at every snapshot of a training, and what became of all the others."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

from transformer import CheckpointError
from transformer.analysis.metrics.metric import Metric
from transformer.analysis.metrics.metrics import metrics_of
from transformer.checkpoint import checkpoints_folder
from transformer.decoding import default_method
from transformer.fingerprint import version_of
from transformer.formats.opening import format_of
from transformer.refusal import Refusal
from transformer.training.history import Snapshot, left_out, list_snapshots, training_rows
from transformer.training.snapshots import Course, watching
from viz.app_packages import st
from viz.components.kit.picture import NothingLeft
from viz.components.snapshot_player.snapshot_player import MAX_CELLS, SnapshotPlayer
from viz.exhibits.exhibit import Exhibit, PictureAt
from viz.labels import literal
from viz.page_fields import TrainingFields
from viz.run.line import Runner
from viz.run.request import Answer, Request, about, answer, make_request
from viz.run.work import Growth, Study, finish
from viz.state.checkpoints import at_start, check_allowed, shipped_names, title
from viz.state.page import Pane
from viz.state.state import change
from viz.ui.controls import choose_one
from viz.ui.parts import Part, Rows

# The checkpoint whose heads are shown over steps: the chosen one, or else one with snapshots.

FIRST = "en-de-small"
"""Its heads change most clearly."""


def with_snapshots(pane: Pane) -> Pane:
    """The same pane, or one of a shipped checkpoint that has snapshots, of the same text.

    Where that checkpoint cannot read the text, of its own example. The same pane where none has
    some.
    """
    if pane.result is None or len(snapshots_of(pane.result)) > 1:
        return pane
    for request in _requests(pane.result.request):
        try:
            return Pane(pane.screen, pane.request, answer(request))
        except Refusal:
            continue
    return pane


def _requests(first: Request) -> Iterator[Request]:
    """Yield requests to other checkpoints, the best first."""
    folder = checkpoints_folder()
    for name in _shipped():
        if len(list_snapshots(folder / name)) < 2:
            continue
        description = about(name)
        if description is not None:
            family = description.family
            method = default_method(family.reads) if family.decodes else "none"
            for text in (first.text, *description.about.examples[:1]):
                yield make_request(name, text, method)


def shipped_left_out() -> str:
    """Say where the snapshots are that would stand in; empty where none were left out."""
    folder = checkpoints_folder()
    return next(filter(None, (left_out(folder / name) for name in _shipped())), "")


def _shipped() -> list[str]:
    return sorted(shipped_names(), key=lambda each: each != FIRST)


def snapshots_of(answer: Answer) -> list[Snapshot]:
    """Return the snapshots of its checkpoint that may be opened."""
    return allowed(list_snapshots(answer.checkpoint.path), answer.request.checkpoint)


def allowed(snapshots: Sequence[Snapshot], checkpoint: str) -> list[Snapshot]:
    """Return those that may be opened: of a checkpoint opened by path, its neighbours may not."""
    path = Path(checkpoint)
    if not path.is_absolute() or path in at_start()[0]:
        return list(snapshots)
    return [each for each in snapshots if _is_allowed(each.path)]


def _is_allowed(path: Path) -> bool:
    try:
        check_allowed([path, *format_of(path).files(path)])
    except CheckpointError:
        return False
    return True


# Heads over steps: one head at every snapshot of a training, and what became of all the others.

METRIC = "entropy"
HOW_KEPT = (
    "`python -m transformer train` keeps snapshots in `snapshots/NNNNNN.safetensors` where a "
    "recipe sets `snapshots`; Hugging Face’s Trainer keeps folders `checkpoint-500`, "
    "`checkpoint-1000`, … with `save_steps`."
)
EXPLAIN = (
    "Every snapshot reads the same sentence{target}: a cell is the same place in it at each "
    "step. Weights are exact, on the scale 0 to 1; maps of more than {cells} × {cells} cells show "
    "the largest of each block. A head takes on its role at the first snapshot after which its "
    "metric stays closer to its final value than to its first (a dot on each curve). If the metric "
    "changes by less than {least}, no role is marked. “Evenly spread” is the value of a head that "
    "attends to all keys equally."
)


@dataclass(frozen=True)
class HeadsOverSteps(Study[Course]):
    """One sentence through the snapshots of a training."""

    request: Request
    snapshots: tuple[Snapshot, ...]
    versions: tuple[int, ...]
    """The versions of their files."""

    @classmethod
    def of(cls, answer: Answer, snapshots: Sequence[Snapshot]) -> "HeadsOverSteps":
        """The study as the files are now."""
        versions = tuple(version_of(each.path) for each in snapshots)
        return cls(answer.request, tuple(snapshots), versions)

    def run(self, before: Course | None, runner: Runner) -> Iterator[Course]:
        now = answer(self.request, runner)
        choices = (self.request.text, now.recording, self.snapshots)
        turn = partial(runner.turn, now.checkpoint.model)
        yield from watching(now.checkpoint, *choices, turn, before)

    def progress(self, value: Course) -> tuple[int, int]:
        return value.progress


@dataclass(frozen=True)
class PackedCourse(Study[bytes]):
    """The data of its player."""

    of: HeadsOverSteps
    player: SnapshotPlayer

    def run(self, before: bytes | None, runner: Runner) -> Iterator[bytes]:
        path, history = answer(self.of.request).checkpoint.path, list[dict[str, float]]()
        with suppress(CheckpointError):  # where it is damaged, the page says so
            history = training_rows(path, list_snapshots(path))
        yield self.player.payload(finish(self.of), history)


def heads_exhibits(pane: Pane) -> dict[str, Growth[Course]]:
    """Declare the exhibit of the chosen head at all snapshots; none where there are too few."""
    snapshots = snapshots_of(pane.answer)
    if len(snapshots) < 2:
        return {}
    study = HeadsOverSteps.of(pane.answer, snapshots)
    return {"heads": Growth("Heads", study, partial(_player, pane, study))}


def _player(pane: Pane, study: HeadsOverSteps, course: Course) -> Exhibit:
    """The player at the snapshot that is nearest to the one that is asked for; else at the last.

    Raises NothingLeft.
    """
    steps, wanted = course.steps, pane.screen.of(TrainingFields).snapshot
    if len(steps) < 2:
        raise NothingLeft("Fewer than two snapshots can be shown.")
    step = steps[-1] if wanted is None else min(steps, key=lambda each: abs(each - wanted))
    place = list(steps).index(step)
    player = SnapshotPlayer(pane.selection, _metric(pane).name, pane.reading.words)

    def move(place: int) -> None:
        chosen = steps[min(place, len(steps) - 1)]
        change(snapshot=None if chosen == steps[-1] else chosen)

    content = PictureAt(
        player,
        {"place": place},
        on={"place": move, "head": lambda place: change(layer=place[0], head=place[1])},
        key="snapshots",
        payload=partial(finish, PackedCourse(study, player)),
    )
    other = ""
    if wanted not in (None, step):
        other = f"There is no snapshot of step {wanted:,d} here: that of step {step:,d} is shown."
    return Exhibit(player.title, content, player.says(course, place), note=other, pane=pane)


def _exhibits(pane: Pane) -> dict[str, Growth[Course]]:
    exhibits = heads_exhibits(pane)
    if not exhibits:
        lacks = f"{pane.checkpoint.name} has no snapshots, so its heads cannot be shown over steps."
        where = left_out(pane.checkpoint.path)
        raise NothingLeft(where or f"{lacks} {shipped_left_out()}".strip())
    return exhibits


def _metric(pane: Pane) -> Metric:
    """The one that the Screen names; the usual one where this kind of attention lacks it."""
    metrics = metrics_of(pane.selection.attention(pane.recording))
    usual = METRIC if METRIC in metrics else next(iter(metrics))
    return metrics.get(pane.screen.of(TrainingFields).metric or usual, metrics[usual])


def _choose_metric(pane: Pane) -> None:
    metrics = metrics_of(pane.selection.attention(pane.recording))
    choose_one(
        "Metric",
        "metric",
        {name: each.title for name, each in metrics.items()},
        pane.screen.of(TrainingFields).metric,
        METRIC if METRIC in metrics else None,
        as_list=True,
        help="\n".join(f"- **{each.title}**: {each.cited}" for each in metrics.values()),
        width=180,
    )


def _explain(pane: Pane, course: Course) -> str:
    metric = _metric(pane)
    wrote = " and the tokens that the finished model wrote" if course.recordings[-1].target else ""
    least = literal(metric.text(metric.least_change))
    text = EXPLAIN.format(target=wrote, cells=MAX_CELLS, least=least)
    n = len(course.steps)
    return f"{n:d} of {n + course.n_left_out:d} snapshots. {text}" if course.n_left_out else text


def _say_whose(pane: Pane) -> None:
    """Say whose heads are shown in place of the chosen checkpoint's, in a sentence."""
    if not pane.is_of_asked_checkpoint:
        chosen, request = title(pane.request.checkpoint), pane.answer.request
        of = "the same sentence" if request.text == pane.request.text else "its own example"
        lacks = f"{chosen} has no snapshots"
        these = f"these are the heads of {request.checkpoint}, over {of}."
        st.markdown(literal(f"{lacks}: {these}"), help=HOW_KEPT)


def _problems(pane: Pane, course: Course) -> list[str]:
    """Return what cannot be shown: snapshots, and the log where it is damaged."""
    path = pane.checkpoint.path
    try:
        training_rows(path, list_snapshots(path))
    except CheckpointError as error:
        return [*course.problems, str(error)]
    return list(course.problems)


def _rows(pane: Pane) -> dict[str, Rows]:
    study = HeadsOverSteps.of(pane.answer, snapshots_of(pane.answer))
    return {
        "heads": Rows(
            "Metrics as CSV",
            "headscope-heads-over-steps.csv",
            "Every metric of every head at every snapshot",
            lambda: metric_rows(finish(study)),
        )
    }


def metric_rows(course: Course) -> list[dict[str, Any]]:
    """A row for each step, kind, layer and head, with every metric that applies."""
    rows: list[dict[str, Any]] = []
    for kind in course.recordings[-1].attentions:
        measured = course.measured(kind)
        n_steps, n_layers, n_heads = next(iter(measured.values())).shape
        for place, layer, head in product(range(n_steps), range(n_layers), range(n_heads)):
            row = {"step": course.steps[place], "kind": kind, "layer": layer, "head": head}
            values = {name: float(of[place, layer, head]) for name, of in measured.items()}
            rows.append(row | values)
    return rows


HEADS = Part(
    "Heads over steps",
    _exhibits,
    _choose_metric,
    _rows,
    above={"heads": _say_whose},
    problems=_problems,
    below=_explain,
    instead=lambda pane: "" if shipped_left_out() else HOW_KEPT,
)
