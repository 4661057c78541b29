"""A study that a test makes of a function."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from viz.run.study import Study


@dataclass(frozen=True)
class Made(Study[int]):
    """Numbers. It is known by its name alone."""

    name: str
    make: Callable[[int | None], Iterator[int]] = field(compare=False)

    def run(self, known: int | None) -> Iterator[int]:
        return self.make(known)

    def progress(self, value: int) -> tuple[int, int]:
        return value, 5
