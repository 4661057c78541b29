"""A study: whatever takes time, as a value that says what is asked and how it comes about."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import ClassVar, Generic, TypeVar

from viz.run.batches import Runner
from viz.run.cache import bytes_of
from viz.run.device_line import WORK

Value = TypeVar("Value")


class Study(ABC, Generic[Value]):
    """A frozen dataclass of what is asked; equal ones are the same study, for all sessions.

    It is its own key in the cache. So it holds requests and options, and nothing that is computed.
    """

    rank: ClassVar[int] = WORK
    """Its place before or behind others that need the device: see `viz.run.device_line`."""

    is_kept: ClassVar[bool] = True
    """False: its value is only for those who wait for it now, and is in no cache."""

    @abstractmethod
    def run(self, before: Value | None, runner: Runner) -> Iterator[Value]:
        """Values that each say all that is known so far; `before` is the last of an earlier run.

        runner: gives it the device, step by step: `yield from runner.steps(model).of(values)`.
        Answers are asked for outside of its steps. Raises Refusal.
        """

    def progress(self, value: Value) -> tuple[int, int]:
        """Return the number of parts that are done, and that of all."""
        return 1, 1

    def n_read(self, value: Value) -> int:
        """Texts that a model has read for it, beside the first: a visitor is charged for some."""
        return 0

    def n_bytes(self, value: Value) -> int:
        """Return the bytes that a value takes, without models."""
        return bytes_of(value)
