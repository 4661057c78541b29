"""One batch for texts that the same model decodes at a time; entered texts go before previews.

What can share no batch, as texts under edits, is stepped by itself: see `viz.run.by_itself`. All
steps on a device, and recordings, take turns.
"""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from threading import Lock
from typing import Any
from weakref import WeakKeyDictionary

from torch import Tensor, nn

from transformer.decoding.alone import OnStep
from transformer.decoding.method import Hypothesis, Model, Search
from transformer.decoding.shared_batch import Run, SharedBatch
from viz.run.by_itself import by_itself
from viz.run.device_line import ENTERED, device_line
from viz.run.line import Place
from viz.run.steps import Steps

OnWait = Callable[[int | None], object]
"""Told how many are before somebody who waits; None: its steps are taken."""

_lock = Lock()
_batches: "WeakKeyDictionary[nn.Module, SharedBatch]" = WeakKeyDictionary()


def batch_of(model: nn.Module) -> SharedBatch:
    """The one of this model, which all who use it share."""
    with _lock:
        if model not in _batches:
            pace = Place(device_line(model).steps)
            _batches[model] = SharedBatch(model, pace=pace)  # type: ignore[arg-type]
        return _batches[model]


@dataclass(frozen=True)
class Runner:
    """Has what somebody asked for computed when it is its turn: steps of a decoding, recordings."""

    rank: int = ENTERED
    on_wait: OnWait | None = None
    check: OnStep | None = None
    """Raises where nobody waits for it any more; it does not wait itself."""
    aside: Callable[[], AbstractContextManager[object]] = nullcontext
    """Around what others do, or wait for."""
    hear: Callable[[Any], object] | None = None
    """Told what there is between two steps; what it raises ends them."""

    def run(self, model: nn.Module) -> Run:
        """Return the callable that takes the steps over the model, for `decode`."""
        return partial(self._run, model)

    @contextmanager
    def turn(self, model: nn.Module) -> Iterator[None]:
        """While something is computed with the model that is one piece.

        Raises what `check` and `on_wait` do. Who has a turn asks for no other: it would wait for
        itself.
        """
        with self.aside(), self._place(model).held():
            if self.on_wait is not None:
                self.on_wait(None)
            yield

    def steps(self, model: nn.Module | None = None) -> Steps:
        """Return the steps of long work with the model; None: on the device for new models."""
        return Steps(self._place(model), self.check, self.on_wait)

    def _place(self, model: nn.Module | None) -> Place:
        tells = self.check is not None or self.on_wait is not None
        return Place(device_line(model).steps, self.rank, self._tell if tells else None)

    def _tell(self, n_before: int) -> None:
        if self.check is not None:
            self.check()
        if self.on_wait is not None:
            self.on_wait(n_before)

    def _run(
        self,
        model: nn.Module,
        begin: Callable[[], Search],
        source: Tensor,
        on_step: OnStep | None,
        n_rows: int,
        own: Model | None = None,
    ) -> list[Hypothesis]:
        check = self.check or on_step
        with self.aside():
            if own is not None:
                line = device_line(model)
                return by_itself(own, begin(), source, check, line, self.rank, self.on_wait)
            batch = batch_of(model)
            return batch.run(begin, source, check, n_rows, None, self.rank, self.on_wait)


entered = Runner()
"""The runner of a text that somebody entered, and waits for."""


def place_in_line(n_before: int) -> str:
    """Say where in the line somebody is."""
    if not n_before:
        return "Yours is the next one."
    return f"{n_before:d} {'people' if n_before > 1 else 'person'} before you."
