"""Who decodes with the same model at a time does so in one batch; entered texts before previews.

What can share no batch, as texts under edits, is stepped by itself: see `viz.ui.by_itself`. All
steps on a device take turns.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from threading import Lock
from weakref import WeakKeyDictionary

from torch import Tensor, nn

from transformer.decoding.alone import OnStep
from transformer.decoding.method import Hypothesis, Model, Search
from transformer.decoding.shared_batch import Run, SharedBatch
from viz.ui.by_itself import by_itself
from viz.ui.device_line import ENTERED, PREVIEW, device_line
from viz.ui.line import Place

OnWait = Callable[[int | None], object]
"""Told how many are before somebody who waits; None: its steps are taken."""
Runner = Callable[[nn.Module], Run | None]
"""What takes the steps over a model; None: each search takes its own."""

_lock = Lock()
_batches: "WeakKeyDictionary[nn.Module, SharedBatch]" = WeakKeyDictionary()


def batch_of(model: nn.Module) -> SharedBatch:
    """The one of this model, which all who use it share."""
    with _lock:
        if model not in _batches:
            pace = Place(device_line(model).steps)
            _batches[model] = SharedBatch(model, pace=pace)  # type: ignore[arg-type]
        return _batches[model]


def entered(model: nn.Module, on_wait: OnWait | None = None, check: OnStep | None = None) -> Run:
    """For a text that somebody entered, and waits for.

    check: raises where nobody waits for it any more; it does not wait itself.
    """
    return partial(_run, model, ENTERED, on_wait, check, nullcontext)


def previewed(
    check: OnStep, aside: Callable[[], AbstractContextManager[object]] = nullcontext
) -> Runner:
    """For a text that is being typed.

    check: as for `entered`. aside: around what others do.
    """
    return lambda model: partial(_run, model, PREVIEW, None, check, aside)


def _run(
    model: nn.Module,
    rank: int,
    on_wait: OnWait | None,
    check: OnStep | None,
    aside: Callable[[], AbstractContextManager[object]],
    begin: Callable[[], Search],
    source: Tensor,
    on_step: OnStep | None,
    n_rows: int,
    own: Model | None = None,
) -> list[Hypothesis]:
    check = check or on_step
    with aside():
        if own is not None:
            line = device_line(model)
            return by_itself(own, begin(), source, check, line, rank, on_wait)
        return batch_of(model).run(begin, source, check, n_rows, None, rank, on_wait)


def said(n_before: int) -> str:
    """Where in the line somebody is."""
    if not n_before:
        return "Yours is the next one."
    return f"{n_before:d} {'people' if n_before > 1 else 'person'} before you."
