"""One sentence through the snapshots of a training: what each head did at each of them.

A snapshot is whatever `load_checkpoint` opens: a file of our snapshots/, a folder checkpoint-500 of
Hugging Face's Trainer. All of them read the same sentence and the same target, what the finished
model wrote, so that a cell of a head's map is the same pair of tokens at every step.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from transformer.analysis.metrics.metric import Metric
from transformer.analysis.metrics.metrics import measure, metrics_of
from transformer.checkpoint import Checkpoint
from transformer.device import DeviceError
from transformer.formats.opening import load_checkpoint
from transformer.recording import Attention, Recording
from transformer.recording.ours import record
from transformer.refusal import Refusal
from transformer.training.history import Snapshot

MOST = 24
"""Snapshots, at most, that are run; of more, evenly spaced ones."""
BUDGET = 128 * 2**20
"""Bytes, at most, that are kept of all snapshots of a sentence: queries and keys alone."""


@dataclass(frozen=True, eq=False)
class Course:
    """The course of a training, seen through one sentence and one target."""

    steps: tuple[int, ...]
    """N of them, rising."""
    recordings: tuple[Recording, ...]
    """One a step, with what weights are computed from and nothing else."""
    problems: tuple[str, ...] = ()
    """A sentence for each snapshot that could not be shown."""
    n_left_out: int = 0
    """Snapshots that are not run, as there are too many."""
    n_done: int = 0
    """Snapshots that were run, or cannot be, of `n_asked`."""
    n_asked: int = 0

    @property
    def progress(self) -> tuple[int, int]:
        """Return how many snapshots are done, of how many."""
        return self.n_done, self.n_asked

    def attentions(self, kind: str) -> list[Attention]:
        return [recording.attentions[kind] for recording in self.recordings]

    def weights(self, kind: str, layer: int, head: int) -> Tensor:
        """One head's weights at every step: [N, Q, K] in float32."""
        return torch.stack([each.weights(layer, head) for each in self.attentions(kind)])

    def measured(self, kind: str) -> dict[str, Tensor]:
        """name -> [N, L, H]: every metric that applies to this kind, at every step."""
        rows = [
            [measure(attention, layer) for layer in range(attention.n_layers)]
            for attention in self.attentions(kind)
        ]
        return {
            name: torch.stack([torch.stack([values[name] for values in row]) for row in rows])
            for name in metrics_of(self.attentions(kind)[-1])
        }


def watch(
    checkpoint: Checkpoint,
    source: str,
    final: Recording,
    snapshots: Sequence[Snapshot],
    turn: Callable[[], AbstractContextManager[object]] = nullcontext,
) -> Course:
    """Run each snapshot once over the source and over the target of `final`: see `watching`."""
    *_, course = watching(checkpoint, source, final, snapshots, turn)
    return course


def watching(
    checkpoint: Checkpoint,
    source: str,
    final: Recording,
    snapshots: Sequence[Snapshot],
    turn: Callable[[], AbstractContextManager[object]] = nullcontext,
    course: Course | None = None,
) -> Iterator[Course]:
    """The course of one snapshot more each time; of none at first.

    final: what `record(checkpoint, source, ...)` gave: its tokens and its heads are what all others
    must have. turn: around each run, of one snapshot. course: as far as it went before. One model
    is in memory at a time. A snapshot that is damaged, or another model, leaves a sentence in
    `problems`, and the others are shown. Raises DeviceError.
    """
    run = thinned(snapshots, max(2, min(MOST, BUDGET // max(1, _size(_slim(final))))))
    n_left_out = len(snapshots) - len(run)
    course = course or Course((), (), n_left_out=n_left_out, n_asked=len(run))
    yield course
    for snapshot in run[course.n_done :]:
        course = _longer(course, snapshot, _recorded(snapshot, checkpoint, source, final, turn))
        yield course


def _longer(course: Course, snapshot: Snapshot, recording: Recording | str) -> Course:
    """With one snapshot more, or with the sentence that says why it cannot be shown."""
    course = replace(course, n_done=course.n_done + 1)
    if isinstance(recording, str):
        return replace(course, problems=(*course.problems, recording))
    steps, recordings = (*course.steps, snapshot.step), (*course.recordings, recording)
    return replace(course, steps=steps, recordings=recordings)


def thinned(snapshots: Sequence[Snapshot], most: int) -> list[Snapshot]:
    """At most `most` (two or more) of them, evenly spaced, with the first and the last."""
    n = len(snapshots)
    if n <= most:
        return list(snapshots)
    return [snapshots[round(i * (n - 1) / (most - 1))] for i in range(most)]


def roles(values: Tensor, least: float) -> Tensor:
    """Find where heads take on their role: values [N, ...] -> an index into N [...], -1: nowhere.

    It is the first snapshot from which on the metric stays nearer to its final value than to its
    first one. A metric that ends less than `least` (above 0) from where it began, or that is not
    defined at both ends, tells of no role.
    """
    first, last = values[0], values[-1]
    is_nearer = (values - last).abs() < (values - first).abs()  # [N, ...]
    stays = is_nearer.flip(0).cumprod(0).sum(0)  # how many at the end, without a break
    has_changed = (last - first).abs() >= least  # of NaN: False
    return torch.where(has_changed, len(values) - stays, -1)


def even_value(metric: Metric, attention: Attention, layer: int, head: int) -> float:
    """The metric of a head that shares each row evenly among the keys that it may attend to."""
    allowed = attention.allowed(layer, head)[None]  # [1, Q, K]
    even = allowed / allowed.sum(-1, keepdim=True).clamp_min(1)
    return float(metric.compute(even)[0])


def _recorded(
    snapshot: Snapshot,
    checkpoint: Checkpoint,
    source: str,
    final: Recording,
    turn: Callable[[], AbstractContextManager[object]],
) -> Recording | str:
    """Only what weights are computed from; a sentence where the snapshot cannot be shown."""
    if snapshot.path == checkpoint.path:
        return _slim(final)
    try:
        opened = load_checkpoint(snapshot.path, checkpoint.device.type)
        with turn():
            recording = record(opened, source, final.target or None)
    except DeviceError:  # no fault of the snapshot's
        raise
    except Refusal as error:
        return str(error)
    if _tokens_and_heads(recording) != _tokens_and_heads(final):
        return f"{snapshot.path.name} is left out: it has other heads or tokens."
    return _slim(recording)


def _tokens_and_heads(recording: Recording) -> dict[str, Any]:
    return {
        kind: (each.queries, each.keys, each.produced, each.n_layers, each.n_heads)
        for kind, each in recording.attentions.items()
    }


def _slim(recording: Recording) -> Recording:
    """Only what weights are computed from: no values, projections, positions or logits."""
    attentions = {
        kind: replace(
            attention,
            calls=tuple(
                replace(call, v=call.v.new_empty(*call.v.shape[:2], 0), projection=None)
                for call in attention.calls
            ),
        )
        for kind, attention in recording.attentions.items()
    }
    return replace(recording, attentions=attentions, positions={}, logits=None, classification=None)


def _size(recording: Recording) -> int:
    """Bytes of all tensors of its calls."""
    return sum(
        value.nbytes
        for attention in recording.attentions.values()
        for call in attention.calls
        for value in vars(call).values()
        if isinstance(value, Tensor)
    )
