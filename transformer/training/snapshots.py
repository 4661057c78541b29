"""One sentence through the snapshots of a training: what each head did at each of them.

A snapshot is whatever `load_checkpoint` opens: a file of our snapshots/, a folder checkpoint-500 of
Hugging Face's Trainer. All of them read the same sentence and the same target, what the finished
model wrote, so that a cell of a head's map is the same pair of tokens at every step.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from itertools import product
from math import isfinite
from types import MappingProxyType
from typing import Any, Self

import torch
from torch import Tensor, nn

from transformer.analysis.metrics.metric import Metric
from transformer.analysis.metrics.metrics import measure, metrics_of
from transformer.checkpoint import Checkpoint
from transformer.device import DeviceError, usual_state
from transformer.formats.opening import load_checkpoint
from transformer.inputs import InputError
from transformer.recording import Attention, Recording
from transformer.recording.ours import record
from transformer.refusal import Refusal, quoted
from transformer.training.history import Snapshot
from transformer.watch import record_module

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


# Snapshots of a training that is under way: passes over one input, every so many steps.
#
# A pass leaves no trace in the training: weights, gradients, buffers, modes and torch's random
# numbers are what they were.

MOST_LOGGED = 2000
"""Steps, at most, whose losses are kept."""


class Tracking:
    """The course of a training that is under way; `step` goes with it, `course` is what was kept.

    Memory is bounded: of more snapshots than there is room for every second one is dropped, and
    from then on half as many are made.
    """

    def __init__(
        self,
        module: nn.Module | Checkpoint,
        inputs: Any,
        tokens: Any = None,
        *,
        every: int = 100,
        most: int = MOST,
        optimizer: torch.optim.Optimizer | None = None,
    ) -> None:
        """Make the first snapshot, of step 0; see `track`. Raises InputError."""
        self._model, self._inputs, self._tokens = module, inputs, tokens
        self._every, self._n, self._stride = every, 0, 1
        self._losses: dict[str, tuple[int, list[tuple[int, float]]]] = {}
        """Name -> every how many steps it is kept, and steps with values."""
        first = self._recorded()
        self._most = max(2, min(most, BUDGET // max(1, _size(first))))
        self._kept, self._problems, self._n_left_out = {0: first}, list[str](), 0
        self._hook = None
        if optimizer is not None:
            self._hook = optimizer.register_step_post_hook(lambda *_: self.step())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, *error: object) -> None:
        """Stop counting an optimizer's steps; keep the last one, unless something went wrong."""
        if self._hook is not None:
            self._hook.remove()
        if kind is None:
            self.keep()

    def __repr__(self) -> str:
        return f"Tracking({len(self._kept)} snapshots of {self._n:,} steps, every {self._every:,})"

    def step(self, loss: Any = None, validation_loss: Any = None) -> None:
        """Count a step of the optimizer, and make a snapshot of every so many.

        loss, validation_loss: numbers or tensors of one. A pass that fails is one of the course's
        problems: it stops no training. Raises InputError for a loss that is no number.
        """
        self._n += 1
        self.log(loss, validation_loss)
        if self._n % (self._every * self._stride) == 0:
            self.keep()

    def log(self, loss: Any = None, validation_loss: Any = None) -> None:
        """Keep the losses of the latest step."""
        for name, value in (("loss", loss), ("validation_loss", validation_loss)):
            stride, rows = self._losses.get(name, (1, []))
            if value is None or self._n % stride:
                continue
            try:
                number = float(value.detach() if isinstance(value, Tensor) else value)
            except (TypeError, ValueError, RuntimeError) as error:
                message = f"{name} must be a number, or a tensor of one, not {quoted(value)}."
                raise InputError(message) from error
            rows.append((self._n, number))
            if len(rows) > MOST_LOGGED:
                stride, rows = 2 * stride, rows[1::2]
            self._losses[name] = stride, rows

    def keep(self) -> None:
        """Make a snapshot of the latest step, unless there is one."""
        if self._n in self._kept:
            return
        try:
            recording = self._recorded()
            if _tokens_and_heads(recording) != _tokens_and_heads(self._kept[0]):
                raise InputError("it has other heads or tokens than the first")
        except Refusal as error:
            self._problems.append(f"Step {self._n:,} is left out: {error}")
            return
        self._kept[self._n] = recording
        if len(self._kept) > self._most:
            self._stride *= 2
            thinner = self._every * self._stride
            fewer = {n: it for n, it in self._kept.items() if n % thinner == 0 or n == self._n}
            self._n_left_out += len(self._kept) - len(fewer)
            self._kept = fewer

    @property
    def course(self) -> Course:
        """The snapshots so far, as numbers."""
        steps = tuple(self._kept)
        return Course(
            steps,
            tuple(self._kept.values()),
            tuple(self._problems),
            self._n_left_out,
            len(steps),
            len(steps),
        )

    @property
    def history(self) -> list[Mapping[str, float]]:
        """Rows with a step and a loss."""
        every = [
            {"step": step, name: value}
            for name, (_, rows) in self._losses.items()
            for step, value in rows
            if isfinite(value)
        ]
        return sorted(every, key=lambda row: row["step"])

    def rows(self) -> Iterator[dict[str, Any]]:
        """Each step, kind, layer and head with all head metrics of its kind."""
        course = self.course
        for kind, each in course.recordings[0].attentions.items():
            metrics = course.measured(kind)  # name -> [N, L, H]
            heads = product(range(each.n_layers), range(each.n_heads))
            for (at, step), (layer, head) in product(enumerate(course.steps), heads):
                place = {"step": step, "kind": kind, "layer": layer, "head": head}
                yield place | {it: float(of[at, layer, head]) for it, of in metrics.items()}

    @usual_state()
    def _recorded(self) -> Recording:
        """One pass; only what weights are computed from is kept, on the CPU."""
        model, inputs, tokens = self._model, self._inputs, self._tokens
        is_checkpoint = isinstance(model, Checkpoint)
        run: Any = record if is_checkpoint else record_module
        module = model.model if isinstance(model, Checkpoint) else model
        with undisturbed(module):
            recording = _slim(run(model, inputs, tokens))
            attentions = {
                kind: replace(
                    each, calls=tuple(_alone(each.calls[at]) for at in range(each.n_layers))
                )
                for kind, each in recording.attentions.items()
            }
        for kind, each in attentions.items():
            if not all(bool(call.weights().isfinite().all()) for call in each.calls):
                raise InputError(f"The weights of {kind} are not all numbers.")
        return Recording(
            recording.source, recording.target, MappingProxyType(attentions), {}, recording.logits
        )


def _alone(call: Any) -> Any:
    """A call whose tensors are its own, on the CPU, and that knows nothing of its pass."""
    own = {
        name: value.detach().to("cpu", copy=True)
        for name, value in vars(call).items()
        if isinstance(value, Tensor)
    }
    return replace(call, **own, trace=None, sample=None)


@contextmanager
def undisturbed(module: nn.Module) -> Iterator[None]:
    """Run a module as in eval(), and leave modes, buffers and random numbers as they were.

    Modes are set as such: train() of a module may do more, as merging weights.
    """
    modes = [(each, each.training) for each in module.modules()]
    buffers = [(each, each.detach().clone()) for each in module.buffers()]
    on_cuda = {each.device.index for each in module.parameters() if each.is_cuda}
    with torch.random.fork_rng(devices=sorted(on_cuda)):
        try:
            for each, _ in modes:
                each.training = False
            yield
        finally:
            for each, mode in modes:
                each.training = mode
            for buffer, before in buffers:
                if not torch.equal(buffer, before):
                    with torch.no_grad():
                        buffer.copy_(before)
