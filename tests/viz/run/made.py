"""A study that a test makes of a function."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from transformer.decoding.shared_batch import OnStep
from viz.run.line import Runner
from viz.run.work import Study


@dataclass(frozen=True)
class Made(Study[int]):
    """Numbers. It is known by its name alone."""

    name: str
    make: Callable[[Any, OnStep], Iterator[int]] = field(compare=False)
    """Of what is known, and of what lets others go first within a step."""

    def run(self, before: int | None, runner: Runner) -> Iterator[int]:
        steps = runner.steps()
        yield from steps.of(self.make(before, steps.give_way))

    def progress(self, value: int) -> tuple[int, int]:
        return value, 5
