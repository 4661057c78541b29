"""The estimate of a wait, by a clock of the test's own."""

from collections.abc import Callable
from contextlib import ExitStack, suppress
from contextvars import copy_context
from typing import Any

import pytest

from viz.run.pace import USUAL, Pace


class Crowd:
    """Runs of pages, each in a context of its own as if in a thread, at times that a test says."""

    def __init__(self) -> None:
        self.now = 0.0
        self.pace = Pace(lambda: self.now)
        self._runs: list[tuple[Callable[..., Any], ExitStack]] = []

    def come(self, waits: bool = True) -> None:
        context, stack = copy_context(), ExitStack()
        context.run(stack.enter_context, self.pace.run())
        if waits:
            context.run(self.pace.waits)
            context.run(self.pace.waits)  # an answer beside the first: it is the same run
        self._runs.append((context.run, stack))

    def leave(self, after: float, error: BaseException | None = None) -> None:
        self.now += after
        run, stack = self._runs.pop(0)
        with suppress(KeyboardInterrupt):
            run(stack.__exit__, type(error) if error else None, error, None)


def test_whoever_comes_waits_for_as_many_as_are_there_at_their_pace() -> None:
    crowd = Crowd()
    assert crowd.pace.estimate() == 0
    for n in range(1, 41):
        crowd.come()
        assert crowd.pace.estimate() == pytest.approx(n * USUAL)
    for _ in range(300):
        crowd.leave(0.05)
        crowd.come()
    assert crowd.pace.estimate() == pytest.approx(40 * 0.05, rel=0.01)
    for _ in range(40):
        crowd.leave(0.05)
    assert crowd.pace.estimate() == 0


def test_who_is_alone_who_waits_for_nothing_and_who_goes_away_says_nothing_of_a_pace() -> None:
    crowd = Crowd()
    for _ in range(50):  # each would take two seconds by itself
        crowd.come()
        crowd.leave(2.0)
    crowd.come(waits=False)
    assert crowd.pace.estimate() == 0
    crowd.leave(1.0)
    for _ in range(10):
        crowd.come()
    for _ in range(5):
        crowd.leave(0.001, KeyboardInterrupt())
    assert crowd.pace.estimate() == pytest.approx(5 * USUAL)
    crowd.leave(USUAL)  # the time of those who went away is that of who is done next
    assert crowd.pace.estimate() == pytest.approx(4 * USUAL, rel=0.1)
    for _ in range(4):
        crowd.leave(USUAL)
    assert crowd.pace.estimate() == 0
