"""What a scene of a story shows without a server: the pictures of its screen, with their state."""

from collections.abc import Iterator, Mapping
from dataclasses import astuple, dataclass, field
from functools import partial
from typing import Any

from transformer import Checkpoint, Recording
from transformer.analysis.metrics.measure import metrics_of
from transformer.analysis.reading import Reading
from transformer.analysis.selection import Selection
from transformer.decoding import Decoding
from transformer.training.history import list_snapshots, training_rows
from transformer.training.snapshots import watch
from viz.components.cell_steps.cell_steps import CellSteps
from viz.components.decode_player.decode_player import DecodePlayer
from viz.components.head_map.head_map import HeadMap
from viz.components.head_view.head_view import HeadView
from viz.components.kit.browser import Component
from viz.components.kit.picture import Picture
from viz.components.question.question import QUESTION, question_data
from viz.components.snapshot_player.snapshot_player import SnapshotPlayer
from viz.edit_words import heads_off, off_in
from viz.notebook.picture import Data
from viz.notebook.printed import Chart
from viz.screen import Screen

EXACT = 256
"""A heat map of up to 256 x 256 cells holds every value."""
METRIC = "entropy"
"""Of heads over steps, where none is chosen."""


@dataclass(frozen=True, eq=False)
class Made:
    """What the model made of a scene's screen."""

    screen: Screen
    checkpoint: Checkpoint
    recording: Recording
    decoding: Decoding | None
    reading: Reading
    selection: Selection
    """The head that is shown."""
    second: Selection
    """The head beside it, on Compare."""
    charts: tuple[Chart, ...] = ()
    """What its page shows by images, where no component draws it."""
    outputs: str = ""
    """What became of the output where the model is changed, as HTML."""
    asked: tuple[bytes, bytes] | None = None
    """The question of the scene, before and after its answer."""


@dataclass(frozen=True, eq=False)
class Drawn:
    """A component with what it draws."""

    component: Component
    data: Data
    payload: bytes
    says: str
    """For those who do not see it."""
    answers: Mapping[tuple[Any, ...], bytes] = field(default_factory=dict)
    """As `viz.notebook.picture.picture` takes them; (name,): whatever is said of it."""


def drawn(made: Made) -> list[Drawn]:
    """The question of a scene, if it asks, then its pictures; none where its page has nothing that
    a file can show.
    """
    pictures = _pictures(made)
    if made.asked is None or not pictures:
        return pictures
    before, after = made.asked
    return [Drawn(QUESTION, question_data, before, "A question", {("reveal",): after}), *pictures]


def _pictures(made: Made) -> list[Drawn]:
    screen = made.screen
    if screen.page == "explore":
        return [_head(made, made.selection, screen.heads)]
    if screen.page == "compare" and screen.checkpoint_b is None and not screen.edited_b:
        heads = ((made.selection, screen.heads), (made.second, screen.heads_b))
        return [_head(made, selection, shown) for selection, shown in heads]
    if screen.page == "decode" and made.decoding is not None:
        layer, head = made.selection.layer, made.selection.head
        player = DecodePlayer(layer, None if screen.mean else head)
        return [_drawn(made, player, step=min(screen.step, len(made.decoding.steps) - 1))]
    if screen.page == "training":
        return list(_training(made))
    return []


def _head(made: Made, selection: Selection, heads: tuple[int, ...] | None) -> Drawn:
    screen = made.screen
    if screen.picture == "map":
        large = HeadMap(selection, made.reading, max_cells=EXACT)
        is_off = astuple(selection) in heads_off(screen.edits)
        look = {"path": screen.path, "own_scale": screen.own_scale, "is_off": is_off}
        return _drawn(made, large, pins=screen.pins, **look)
    if screen.picture == "inside":  # of no chosen cell it is the strongest
        return _inside(made, CellSteps(selection, screen.cell, made.reading.rows))
    view = HeadView(selection.kind, selection.layer, made.reading)
    state = {"head": selection.head, "heads": heads, "pins": screen.pins, "lines": screen.lines}
    off = off_in(selection.kind, selection.layer, screen.edits)
    return _drawn(made, view, off=off, **state)


def _inside(made: Made, cell: CellSteps) -> Drawn:
    answers = {
        ("cell", each.cell): each.payload(made.recording) for each in cell.in_row(made.recording)
    }
    payload, says = cell.payload(made.recording), cell.says(made.recording)
    return Drawn(cell.component, cell.data, payload, says, answers)


def _drawn(made: Made, shown: Picture, **state: Any) -> Drawn:
    of = (made.recording, made.decoding)
    said = shown.says(*of, **state)
    return Drawn(shown.component, partial(shown.data, **state), shown.payload(*of), said)


def _training(made: Made) -> Iterator[Drawn]:
    """One head over the snapshots of its training, where these were kept."""
    screen, path = made.screen, made.checkpoint.path
    snapshots = list_snapshots(path)
    if screen.topic not in (None, "heads") or len(snapshots) < 2 or screen.text is None:
        return
    course = watch(made.checkpoint, screen.text, made.recording, snapshots)
    if len(course.steps) < 2:
        return
    metrics = list(metrics_of(made.selection.attention(made.recording)))
    metric = next(name for name in (screen.metric, METRIC, *metrics) if name in metrics)
    player = SnapshotPlayer(made.selection, metric)
    step = course.steps[-1] if screen.snapshot is None else screen.snapshot
    nearest = min(course.steps, key=lambda each: abs(each - step))
    place = course.steps.index(nearest)
    data = partial(player.data, place=place)
    payload = player.payload(course, training_rows(path, snapshots))
    yield Drawn(player.component, data, payload, player.says(course, place))
