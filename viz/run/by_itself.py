"""A search that shares no batch: one at a time on a device, and for a while at a time."""

import time
from collections.abc import Callable

from torch import Tensor

from transformer.decoding.alone import OnStep, alone
from transformer.decoding.method import Hypothesis, Model, Search
from viz.run.device_line import DeviceLine
from viz.run.line import Place

LONGEST = 1.0
"""Seconds after which a text that is not done lets the next one of its rank go on."""


def by_itself(
    model: Model,
    search: Search,
    source: Tensor,
    check: OnStep | None,
    line: DeviceLine,
    rank: int,
    on_wait: Callable[[int | None], object] | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> list[Hypothesis]:
    """Run a search step by step, in line. Raises as the search, `check` and `on_wait` do.

    check: called before each step, and while it waits. on_wait: told every half a second how many
    texts are before it, while it waits for its first step or for the next one.
    """

    def tell(n_before: int) -> None:
        if check is not None:
            check()
        if on_wait is not None:
            on_wait(n_before)

    text, step = Place(line.texts, rank, tell), Place(line.steps, rank)
    began = 0.0

    def before_a_step() -> None:
        nonlocal began
        if check is not None:
            check()
        is_long = clock() - began >= LONGEST
        if is_long or text.line.is_wanted(rank):
            step.leave()
            text.give_way(to_equals=is_long)
            step.enter()
            began = clock() if is_long else began
        else:
            step.give_way()

    with text.held(), step.held():
        began = clock()
        return alone(model, search, source, before_a_step)
