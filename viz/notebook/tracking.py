"""track(): the heads of a module over the steps of its training, as a page with a slider."""

import csv
import io
from collections.abc import Sequence
from dataclasses import astuple, replace
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import nn

from transformer.analysis.metrics.metrics import metrics_of
from transformer.analysis.reading import Selection
from transformer.checkpoint import Checkpoint
from transformer.device import usual_state
from transformer.files.foreign_text import write_whole
from transformer.inputs import COUNT, PATH, InputError, checks, of_class
from transformer.old_spelling import respelled
from transformer.training.snapshots import MOST, Tracking
from viz.components.kit.picture import check_name, head_in
from viz.components.snapshot_player.snapshot_player import SnapshotPlayer, pack_snapshots
from viz.notebook.picture import Picture, ThemeName, picture, pictured

METRIC = "entropy"
LARGEST = 12 << 20
"""Bytes of the data of all heads of a page; of more, a page has those of one layer."""
TRACKED = of_class(
    (nn.Module, Checkpoint), "a torch module, an instance with its weights, or a checkpoint"
)
OPTIMIZER = of_class(torch.optim.Optimizer, "an optimizer of torch").or_none


class Track(Tracking):
    """A training that is under way, and its page."""

    @pictured
    def picture(
        self,
        kind: str | None = None,
        layer: int = 0,
        head: int = 0,
        metric: str = METRIC,
        *,
        theme: ThemeName = "auto",
        height: int | None = None,
    ) -> Picture:
        """Draw a head at each step that was kept, with a slider, the other heads, and a metric.

        kind: "encoder_self", "decoder_self" or "cross"; None: the first that there is.
        layer, head: counted from 0, or from the end with -1; a click on another head shows that.
        metric: a head metric, such as "entropy", "confidence", "distance" or "previous".
        theme: "auto", as light or dark as the notebook around it; "light"; "dark".
        height: of the frame in a notebook, in pixels; None: as high as it is.

        Returns a `Picture`. Raises InputError, also where only step 0 was kept, and NoSuchHead.
        """
        self.keep()
        course = self.course
        if len(course.steps) < 2:
            raise InputError("Only step 0 was kept so far: call step() after each step.")
        last = course.recordings[-1]
        kind, layer, head = astuple(head_in(last, kind, layer, head))
        metrics = metrics_of(last.attentions[kind])
        check_name("metric", metric, list(metrics))

        def pack(layer: int, head: int, most: int | None = None) -> bytes:
            selection = Selection(kind, layer, head)
            return pack_snapshots(course, selection, metrics[metric], self.history, most_heads=most)

        n_heads = last.attentions[kind].n_heads
        n_all = last.attentions[kind].n_layers * n_heads
        most = n_all if n_all * len(pack(layer, head, n_all)) <= LARGEST else n_heads
        layers = range(n_all // n_heads) if most == n_all else [layer]
        answers = {
            ("head", (each, other)): pack(each, other, most)
            for each in layers
            for other in range(n_heads)
        }
        player = SnapshotPlayer(Selection(kind, layer, head), metric)
        return picture(
            player.component,
            player.title,
            partial(player.data, place=len(course.steps) - 1),
            answers["head", (layer, head)],
            answers=answers,
            is_titled=False,
            theme=theme,
            height=height,
        )

    @checks(path=PATH)
    def save(self, path: str | Path, **choices: Any) -> Path:
        """Write the page, a figure of the last step, or all head metrics at each step.

        path: the file; its ending says which: .html; .pdf, .svg or .png; .csv.
        choices: of `picture`, by name.

        Returns the path. Raises as `picture`, FigureError for another ending, and Unwritten, an
        OSError, where the file cannot be written.
        """
        file = Path(path)
        if file.suffix.lower() != ".csv":
            files = {"csv": lambda: self.to_csv().encode()}
            return replace(self.picture(**choices), files=files).save(file)
        self.keep()
        write_whole(file, self.to_csv().encode())
        return file

    @usual_state()
    def to_csv(self) -> str:
        """A row for each step, kind, layer and head, with all head metrics of its kind."""
        rows = list(self.rows())
        names = dict.fromkeys(name for row in rows for name in row)
        text = io.StringIO()
        writer = csv.DictWriter(text, list(names), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
        return text.getvalue()


@respelled(module="model")
@checks(module=TRACKED, every=COUNT, most=COUNT, optimizer=OPTIMIZER)
def track(
    module: nn.Module | Checkpoint,
    inputs: Any,
    tokens: Sequence[str] | Any = None,
    *,
    every: int = 100,
    most: int = MOST,
    optimizer: torch.optim.Optimizer | None = None,
) -> Track:
    """Watch the heads of a module over one input while it is trained, every so many steps.

    >>> with track(model, ids, every=100) as tracked:  # doctest: +SKIP
    ...     for batch in batches:
    ...         loss = update(model, batch)
    ...         tracked.step(loss)
    >>> tracked.save("training.html")  # doctest: +SKIP

    module: a torch module, or a checkpoint (`from_module`).
    inputs: a batch of one: a tensor (ids [1, T]), a tuple or a dict; of a checkpoint a text.
    tokens: the pieces at its positions, as strings, None: they are numbered; of a checkpoint the
        target, as text or tokens.
    every: steps of the optimizer between two snapshots.
    most: snapshots that are kept at most; of more, every second one is dropped.
    optimizer: its steps are counted by themselves, until the `with` ends; None: `step()` is called
        after each.

    Returns a `Track`, the course so far: `.picture()` draws it, `.save("x.html")` or .csv keeps it,
    `.step(loss)` counts. A pass runs as in eval() and leaves weights, gradients, buffers, modes and
    torch's random numbers as they were. Raises InputError where the module does not run over these
    inputs.
    """
    return Track(module, inputs, tokens, every=every, most=most, optimizer=optimizer)
