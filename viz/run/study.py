"""A study: whatever takes time, as a value that says what is asked and how it comes about."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Generic, TypeVar

Value = TypeVar("Value")


class Study(ABC, Generic[Value]):
    """A frozen dataclass of what is asked; equal ones are the same study, for all sessions.

    It is its own key in the cache. So it holds requests and options, and nothing that is computed.
    """

    @abstractmethod
    def run(self, known: Value | None) -> Iterator[Value]:
        """Values that each say all that is known so far; `known` is the last of an earlier run.

        Answers are asked for before it returns, so it is no generator itself: a step that waits for
        an answer has the place at the device that the answer needs. A long step calls `go_on`.
        Raises Refusal.
        """

    @abstractmethod
    def progress(self, value: Value) -> tuple[int, int]:
        """How many are done, of how many."""

    def n_read(self, value: Value) -> int:
        """Texts that a model has read for it, beside the first: a visitor is charged for some."""
        return 0
