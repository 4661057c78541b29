"""A training, played in the browser: one head's map at each snapshot, and a metric's curve."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import astuple, dataclass
from math import isfinite
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from transformer.analysis.metrics.metric import Metric
from transformer.analysis.metrics.metrics import metrics_of
from transformer.analysis.reading import (
    AttentionMap,
    Reading,
    Selection,
    block_within,
    located,
    read,
)
from transformer.recording import Recording
from transformer.training.snapshots import Course, even_value, roles
from viz.components.kit.browser import Component, digest, envelope, pack
from viz.components.kit.picture import map_header, pictures, strongest
from viz.components.kit.sync import mountable
from viz.labels import kind_name
from viz.map_words import capitalised, describe_map
from viz.theme import Theme

MAX_CELLS = 128
"""The most cells of a side; each value of a larger map is the largest of a block of cells."""
MAX_HEADS = 48
"""The most heads of a kind; of more, those of the chosen head's layer are shown."""
LOSSES = {"loss": "training loss", "validation_loss": "validation loss"}
"""The curves below the metric, of all that training logged."""

SNAPSHOT_PLAYER = Component("snapshot_player")
snapshot_player = mountable(SNAPSHOT_PLAYER)
"""on_place: the snapshot, as in `data`; on_head: layer and head of the picture that was pressed."""


@dataclass(frozen=True)
class SnapshotPlayer:
    """One head at every snapshot of a training, and one metric of all heads."""

    selection: Selection
    metric: str
    words: bool = False
    """The pieces of a word are one row and one column."""
    component: ClassVar[Component] = SNAPSHOT_PLAYER

    @property
    def title(self) -> str:
        head = str(self.selection)  # models of ours have no other layers
        return f"{capitalised(kind_name(self.selection.kind))}, {head} over steps"

    def payload(self, course: Course, history: Iterable[Mapping[str, float]] = ()) -> bytes:
        """history: rows as `training_rows` gives them."""
        metric = metrics_of(course.attentions(self.selection.kind)[-1])[self.metric]
        return pack_snapshots(course, self.selection, metric, history, self.words)

    def maps(self, recording: Recording) -> dict[str, AttentionMap]:
        """The map of the same text: its tokens are those of all snapshots."""
        return {self.selection.kind: _read(recording, self.selection.kind, self.words)}

    def data(self, payload: bytes, theme: Theme, *, place: int = 0) -> bytes:
        """place: the snapshot that is shown, counted from 0."""
        return envelope(payload, theme, place=place)

    def says(self, course: Course, place: int = -1) -> str:
        """Describe the snapshot at this place; the last, where none is named."""
        kind, layer, head = astuple(self.selection)
        text = describe_map(_read(course.recordings[place], kind, self.words), layer, head)
        n, number = len(course.steps), place % len(course.steps) + 1
        metric = metrics_of(course.attentions(kind)[-1])[self.metric]
        return (
            f"Step {course.steps[place]:,}, snapshot {number} of {n}: {text} The curves show "
            f"“{metric.title}” of this head and of the others, and the loss."
        )


def pack_snapshots(
    course: Course,
    selection: Selection,
    metric: Metric,
    history: Iterable[Mapping[str, float]] = (),
    words: bool = False,
    most_heads: int | None = None,
) -> bytes:
    """One head at every snapshot, the others small, and one metric of them all.

    history: rows as `training_rows` gives them. words: rows and columns are words. most_heads: of
    the small ones; of more, those of the chosen head's layer are there.
    Arrays: values f4 [N, R, C] of the head, NaN where masked; thumbnails u1 [N, T, R', C'] of T
    heads; their metric f4 [N, T]; losses f4 [M, 2], rows of (step, value), one array for each of
    LOSSES. Where R * C is more than 128 * 128, values are the largest of blocks of cells, and
    one array more follows: which cell of its block each is, u2 [N, R, C].
    """
    maps = [_read(recording, selection.kind, words) for recording in course.recordings]
    heads = heads_beside(maps[-1], selection, most_heads)
    layers = [layer for layer, _ in heads]
    # bool [N, R, C]
    allowed = torch.stack([map.allowed(*_place(selection)) for map in maps])
    values = torch.stack([map.values(*_place(selection)) for map in maps])
    values = values.masked_fill(~allowed, torch.nan)
    block = block_within(len(maps[-1].rows), len(maps[-1].columns), MAX_CELLS)
    largest, places = located(values, allowed, block)
    numbers = course.measured(selection.kind)[metric.name]  # [N, L, H]
    roles_of = roles(numbers, metric.least_change)  # [L, H]
    of_heads = numbers[:, layers, [head for _, head in heads]]  # [N, T]
    losses = [_logged(history, name) for name in LOSSES]
    header = _header(maps, selection) | {
        "steps": list(course.steps),
        "block": block,
        "masked": not bool(allowed.all()),
        "strongest": list(map(strongest, values, allowed)),
        "heads": heads,
        "roles": [int(roles_of[layer, head]) for layer, head in heads],
        "metric": _metric(metric, course, selection, of_heads),
        "losses": list(LOSSES.values()),
    }
    header["course"] = digest(json.dumps([header["tokens"], header["steps"]]).encode())
    arrays: list[NDArray[Any]] = [_f4(largest), _thumbnails(maps, heads), _f4(of_heads), *losses]
    if block != (1, 1):
        arrays.append(places.numpy().astype(np.uint16))
    return pack(header, *arrays)


def _read(recording: Recording, kind: str, words: bool) -> AttentionMap:
    return read(recording, kind, Reading(words=words))


def _place(selection: Selection) -> tuple[int, int]:
    return selection.layer, selection.head


def heads_beside(
    map: AttentionMap, selection: Selection, most: int | None = None
) -> list[tuple[int, int]]:
    """Layer and head of each small picture. most: MAX_HEADS, if it is left out."""
    is_few = map.n_layers * map.n_heads <= (MAX_HEADS if most is None else most)
    layers = range(map.n_layers) if is_few else [selection.layer]
    return [(layer, head) for layer in layers for head in range(map.n_heads)]


def _header(maps: list[AttentionMap], selection: Selection) -> dict[str, Any]:
    """Describe the maps in words, as the scripts of a head map read it."""
    map = maps[-1]
    return map_header(map) | {
        "id": f"{selection.kind} {selection}",
        "layer": selection.layer,
        "head": selection.head,
        "name": str(selection),
        "says": [describe_map(each, *_place(selection)) for each in maps],
        "bounds": map.bounds,
        "region": (0, 0, 0, 0),
    }


def _metric(
    metric: Metric, course: Course, selection: Selection, of_heads: Tensor
) -> dict[str, Any]:
    """Name the metric of the curve; all values as text, and that of a head with even weights.

    of_heads: [N, T]
    """
    even = even_value(metric, course.attentions(selection.kind)[-1], *_place(selection))
    return {
        "name": metric.name,
        "title": metric.title,
        "unit": metric.unit,
        "texts": [metric.text(value) for value in of_heads.ravel().tolist()],
        "even": even if isfinite(even) else None,
        "even_text": metric.text(even),
    }


def _thumbnails(maps: list[AttentionMap], heads: list[tuple[int, int]]) -> NDArray[np.uint8]:
    """[N, T, R', C'], at most 64 pixels a side."""
    layers, numbers = zip(*heads, strict=True)
    return np.stack([pictures(map, {}).thumbnails[list(layers), list(numbers)] for map in maps])


def _logged(history: Iterable[Mapping[str, float]], name: str) -> NDArray[np.float32]:
    """[M, 2]: step and value of the rows that have this value."""
    rows = [(row["step"], row[name]) for row in history if isfinite(row.get(name, torch.nan))]
    return np.array(rows, "<f4").reshape(-1, 2)


def _f4(values: Tensor) -> NDArray[np.float32]:
    return values.numpy().astype("<f4")
