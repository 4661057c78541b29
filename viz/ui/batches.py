"""Who decodes with the same model at a time does so in one batch; entered texts before previews."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from threading import Lock
from weakref import WeakKeyDictionary

from torch import Tensor, nn

from transformer.decoding.alone import OnStep
from transformer.decoding.method import Hypothesis, Search
from transformer.decoding.shared_batch import Run, SharedBatch

OnWait = Callable[[int], object]
"""Told how many are before somebody who waits."""
Runner = Callable[[nn.Module], Run | None]
"""What takes the steps over a model; None: each search takes its own."""
ENTERED, PREVIEW = 0, 1
"""Ranks in a batch."""

_lock = Lock()
_batches: "WeakKeyDictionary[nn.Module, SharedBatch]" = WeakKeyDictionary()


def batch_of(model: nn.Module) -> SharedBatch:
    """The one of this model, which all who use it share."""
    with _lock:
        if model not in _batches:
            _batches[model] = SharedBatch(model)  # type: ignore[arg-type]
        return _batches[model]


def entered(model: nn.Module, on_wait: OnWait | None = None) -> Run:
    """For a text that somebody entered, and waits for."""
    return partial(batch_of(model).run, rank=ENTERED, on_wait=on_wait)


def previewed(
    check: OnStep, aside: Callable[[], AbstractContextManager[object]] = nullcontext
) -> Runner:
    """For a text that is being typed.

    check: raises where nobody waits for it; it does not wait itself. aside: around what others do.
    """

    def of(model: nn.Module) -> Run:
        def run(
            begin: Callable[[], Search], source: Tensor, on_step: OnStep | None, n_rows: int
        ) -> list[Hypothesis]:
            with aside():
                return batch_of(model).run(begin, source, check, n_rows, rank=PREVIEW)

        return run

    return of


def said(n_before: int) -> str:
    """Where in the line somebody is."""
    if not n_before:
        return "Yours is the next one."
    return f"{n_before:d} {'people' if n_before > 1 else 'person'} before you."
