"""A deck that epochs are dealt from: shuffled anew each time that all of it was dealt."""

import random
from collections.abc import Iterator, Sequence
from typing import Generic, TypeVar

T = TypeVar("T")


class Deck(Generic[T]):
    """Items in a random order, the same for the same seed."""

    def __init__(self, items: Sequence[T], seed: int) -> None:
        self.items, self.seed = items, seed

    def deal(self, start: int) -> Iterator[T]:
        """The items from the start-th one on, for ever."""
        time, at = divmod(start, len(self.items))
        while True:
            order = list(range(len(self.items)))
            random.Random(self.seed * 1_000_003 + time).shuffle(order)
            yield from (self.items[i] for i in order[at:])
            time, at = time + 1, 0
