"""Changes: what edits have made of the call of a layer, as a recording keeps it."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from torch import Tensor

from transformer.recording.calls import AttentionCall


@dataclass(frozen=True, eq=False)
class Change:
    """The change that edits made of one layer's call, so that a recording of it says the same."""

    added: Tensor | None = None
    """[H, Q, K] to the scores."""
    open: Tensor | None = None
    """bool [H, Q, K]; None: nothing was cut."""
    replaced: Mapping[int, Tensor] = field(default_factory=dict)
    """Head -> its output [Q, d_value]."""

    def of(self, call: AttentionCall) -> AttentionCall:
        """The call with what was done to it."""
        mask = call.mask
        if self.open is not None:
            mask = self.open if mask is None else mask & self.open
        safe = call.is_safe or self.open is not None  # a row that may look at nothing is 0
        return replace(call, added=self.added, mask=mask, replaced=self.replaced, is_safe=safe)


class Cells:
    """Cells [H, Q, K] of a call, made when the first head puts some there."""

    def __init__(self, call: AttentionCall) -> None:
        self._shape = (*call.q.shape[:2], call.k.size(1))
        self.all: Tensor | None = None

    def put(self, head: int, cells: Tensor, others: float | bool) -> None:
        """Fill a head with cells [Q, K]; others: what stands in heads that nobody fills."""
        if self.all is None:
            self.all = cells.new_full(self._shape, others)
        self.all[head] = cells
