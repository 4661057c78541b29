"""The steps of long work: each is taken when it is its turn, and a long one gives way."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from transformer.decoding.alone import OnStep
from viz.run.line import Place

T = TypeVar("T")
SLICE = 0.25
"""Seconds for which a piece of work takes its steps before others of its kind take theirs."""


class Steps:
    """The steps of one piece of work on a device.

    place: where it waits. check: raises where nobody waits for it any more. on_wait: told None
    once it waits no longer.
    """

    def __init__(
        self,
        place: Place,
        check: OnStep | None = None,
        on_wait: Callable[[int | None], object] | None = None,
    ) -> None:
        self._place, self._check, self._on_wait = place, check, on_wait
        self._since = 0.0
        """The time at which it last came before others; by `time.perf_counter`, in s."""
        self._has_waited = False
        """True: it waited until rank counted no more, and then all others wait for its slice. Else
        texts that are written without a pause would let it take one step a second."""

    def of(self, values: Iterator[T]) -> Iterator[T]:
        """The same values, none of them None: each is computed while the place is held."""
        while True:
            with self.one():
                value = next(values, None)
            if value is None:
                return
            yield value

    @contextmanager
    def one(self) -> Iterator[None]:
        """While a step is taken."""
        with self._place.held():
            self._since = time.perf_counter()
            self._go_on()
            yield

    def give_way(self) -> None:
        """Within a step: let texts that were entered go first. Raises what `check` does."""
        if self._check is not None:
            self._check()
        start = time.perf_counter()
        is_long = start - self._since >= SLICE
        if self._has_waited and not is_long:
            return
        self._place.give_way(to_equals=is_long)
        self._go_on()
        now = time.perf_counter()
        self._has_waited = now - start >= self._place.line.patience
        if is_long or self._has_waited:
            self._since = now

    def _go_on(self) -> None:
        if self._on_wait is not None:
            self._on_wait(None)
