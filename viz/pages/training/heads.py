"""Heads over steps: one head at every snapshot of a training, and what became of all the others."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

from transformer import CheckpointError
from transformer.analysis.metrics.measure import metrics_of
from transformer.analysis.metrics.metric import Metric
from transformer.training.history import Snapshot, left_out, list_snapshots, training_rows
from transformer.training.snapshots import Course, watching
from transformer.versions import version_of
from viz.app_packages import DeltaGenerator, st
from viz.components.kit.picture import NothingLeft
from viz.components.snapshot_player.snapshot_player import MAX_CELLS, SnapshotPlayer
from viz.exhibits.exhibit import Exhibit, PictureAt
from viz.export import rows_csv
from viz.fields.training import TrainingFields
from viz.labels import literal
from viz.pages.training.stand_in import shipped_left_out, snapshots_of
from viz.run.batches import Runner
from viz.run.growth import Growth
from viz.run.request import Answer, Request, answer
from viz.run.study import Study
from viz.run.work import finish
from viz.state.checkpoints import title
from viz.state.note import note, warn
from viz.state.page import Pane
from viz.state.state import change
from viz.ui.controls import choose_one
from viz.ui.progress import whole
from viz.ui.saving import download, for_a_paper
from viz.ui.showing import show

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
        history = _history(answer(self.of.request).checkpoint.path)
        yield self.player.payload(finish(self.of), history)


def heads_over_steps(pane: Pane, top: DeltaGenerator) -> None:
    """The player of the chosen head; where no checkpoint has snapshots, how one gets them."""
    growth = heads_exhibits(pane).get("heads")
    if growth is None:
        note(lack(pane))
        if not shipped_left_out():
            st.caption(HOW_KEPT)
        return
    if not pane.is_of_asked_checkpoint:
        st.markdown(literal(_stands_in(pane)), help=HOW_KEPT)
    with top:
        _choose_metric(pane)
    course = whole(growth.study, st.empty())
    if course is None:
        return
    for problem in course.problems:
        warn(problem)
    try:
        exhibit = growth.exhibit(course)
    except NothingLeft as reason:
        note(reason)
        return
    _say_damaged(pane.checkpoint.path)
    show(replace(exhibit, note=""), "heads")
    if exhibit.note:  # below the player, as the first step there takes it away
        note(exhibit.note)
    st.caption(_explain(course, _metric(pane)))
    with st.container(horizontal=True):
        download(
            "Metrics as CSV",
            lambda: rows_csv(metric_rows(course)),
            "headscope-heads-over-steps.csv",
            "Every metric of every head at every snapshot",
        )
        for_a_paper(pane, {"heads": exhibit}, "paper heads")


def lack(pane: Pane) -> str:
    """Say why there are no heads over steps."""
    lacks = f"{pane.checkpoint.name} has no snapshots, so its heads cannot be shown over steps."
    return left_out(pane.checkpoint.path) or f"{lacks} {shipped_left_out()}".strip()


def heads_exhibits(pane: Pane) -> dict[str, Growth[Course]]:
    """Declare the exhibit of the chosen head at all snapshots; none where there are too few."""
    snapshots = snapshots_of(pane.answer)
    if len(snapshots) < 2:
        return {}
    study = HeadsOverSteps.of(pane.answer, snapshots)
    return {"heads": Growth("Heads", study, partial(_exhibit, pane, study))}


def _exhibit(pane: Pane, study: HeadsOverSteps, course: Course) -> Exhibit:
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


def _explain(course: Course, metric: Metric) -> str:
    wrote = " and the tokens that the finished model wrote" if course.recordings[-1].target else ""
    least = literal(metric.text(metric.least_change))
    text = EXPLAIN.format(target=wrote, cells=MAX_CELLS, least=least)
    n = len(course.steps)
    return f"{n:d} of {n + course.n_left_out:d} snapshots. {text}" if course.n_left_out else text


def _stands_in(pane: Pane) -> str:
    """Say whose heads are shown in place of the chosen checkpoint's, in a sentence."""
    chosen, request = title(pane.request.checkpoint), pane.answer.request
    of = "the same sentence" if request.text == pane.request.text else "its own example"
    return f"{chosen} has no snapshots: these are the heads of {request.checkpoint}, over {of}."


def _history(path: Path) -> list[dict[str, float]]:
    """Return the rows of the log; none where that is damaged."""
    try:
        return training_rows(path, list_snapshots(path))
    except CheckpointError:
        return []


def _say_damaged(path: Path) -> None:
    """Say why the log is not shown, where it is damaged."""
    try:
        training_rows(path, list_snapshots(path))
    except CheckpointError as error:
        warn(str(error))


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
