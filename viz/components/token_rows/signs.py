"""The evidence as tokens show it: their signs, and the worth of each word that is read."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

Mark = tuple[str, int, str, str]
"""The side and position of a token, the name of its sign, and the sentence that it stands for."""


@dataclass(frozen=True)
class Worth:
    """Costs of hiding words that are read, in log-probability of those that are written."""

    words: Mapping[str, Sequence[str]]
    """Words by side, "source" and "target"."""
    word_at: Mapping[str, Sequence[int]]
    """The number of the word at each position of a side."""
    nats: Sequence[Sequence[float]]
    """A row for each written word."""
    least: float
    """From which on a word is needed."""


@dataclass(frozen=True)
class Signs:
    """The signs of one sentence and its translation."""

    marks: Sequence[Mark] = ()
    worth: Worth | None = None

    def data(self) -> dict[str, Any]:
        """Return them as the browser has them."""
        worth = None if self.worth is None else asdict(self.worth)
        return {"marks": list(map(list, self.marks)), "worth": worth}
