"""One kind of attention in all layers, with one call per layer."""

from dataclasses import dataclass, field
from itertools import pairwise

from transformer.watch.calls.seen import Seen

ROLES = ("encoder_self", "decoder_self", "cross")


@dataclass(eq=False)
class Kind:
    """One kind of attention in all layers."""

    role: str | None
    """ "encoder_self", "decoder_self" or "cross"; None where nothing tells."""
    sizes: tuple[int, int, int]
    """H, Q and K of every call."""
    is_softmax: bool
    """True: it is what the softmax gave, where the values met something else."""
    part: tuple[int, int]
    """The place among the calls of a layer that nothing puts together, and their number."""
    reading: int = 0
    """The number of the pass over a text, where a model makes several in one; from 0."""
    calls: list[Seen] = field(default_factory=list)
    """One per layer, in the order of calling."""

    @property
    def numbers(self) -> tuple[int, ...]:
        """The model's own numbers of these layers: the first ones in their paths that differ."""
        columns = list(zip(*(numbers_of(call) for call in self.calls), strict=False))
        if len(self.calls) > 1:
            columns = [column for column in columns if len(set(column)) > 1]
        numbers = columns[0] if columns else ()
        is_going_up = numbers and all(a < b for a, b in pairwise(numbers))
        return numbers if is_going_up else tuple(range(len(self.calls)))


def numbers_of(call: Seen) -> tuple[int, ...]:
    """List the numbers in the path of its module."""
    return tuple(int(part) for part in call.place.path.split(".") if part.isdecimal())


def stem(kind: Kind) -> list[str]:
    """Split its path in the model, without numbers."""
    return [part for part in kind.calls[0].place.path.split(".") if part and not part.isdecimal()]
