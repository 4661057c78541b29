"""Points of a watched pass where it may be changed on its way; by itself it is not.

`editing.EditingWatcher` says otherwise. A plain watcher calls the same methods at the same places,
so that what is edited is what is recorded.
"""

from collections.abc import Sequence
from typing import Any

from torch import Tensor

from transformer.watch.calls.addends import Addend
from transformer.watch.calls.marks import Origin
from transformer.watch.calls.seen import Seen
from transformer.watch.capture.tables import Where


class Unedited:
    """A pass in which nothing is changed."""

    def _edit(self, seen: Seen, heads: Tensor) -> None:
        """Here an attention may be changed, in what it gave [..., Q, d_value]."""

    def _edit_weights(
        self, softmax: Origin, scores: Tensor, weights: Tensor, addends: Sequence[Addend]
    ) -> None:
        """The same of attention by hand, in its weights [..., Q, K]."""

    def _edit_positions(self, where: Where, operands: Sequence[Any]) -> Sequence[Any]:
        """The same where rows of positions may be added."""
        return operands

    def _edit_angles(self, angles: Tensor) -> None:
        """The same of what cosines and sines are made of [..., T, n]."""

    def _edit_projected(self, seen: Seen, result: Tensor) -> None:
        """The same after W_O [..., D]."""
