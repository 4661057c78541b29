"""Many groups of edits in one batch that begins as one row: what edits leave alone is run once."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from transformer.editing.ours import Editing
from transformer.edits.edit import Edit

Group = tuple[Edit, ...]


class Growing(Editing):
    """A row joins the batch before the first layer that its edits change: below that layer it is
    the first row, which nothing changes.
    """

    def __init__(self, joins: Mapping[Group, int], references: Mapping[Edit, Tensor]) -> None:
        """joins: group -> the layer before which its row joins."""
        in_order = sorted(joins, key=lambda group: joins[group])
        self.rows: tuple[Group, ...] = ((), *filter(None, in_order))
        """The edits of each row of what the stack gives; none of the first."""
        self._joins = [0, *(joins[group] for group in self.rows[1:])]
        super().__init__((), rows=self.rows, references=references)

    def joined(self, layer: int, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return a layer's inputs: x [B, T, D], a mask and, in a decoder, a cache of all rows.

        Those that join are put below the others.
        """
        x, mask, *others = inputs
        n = sum(join <= layer for join in self._joins)
        x = torch.cat([x, x[:1].expand(n - len(x), -1, -1)])
        if others and others[0].cross is not None:
            cross = tuple(each[:n] for each in others[0].cross)
            others[0] = replace(others[0], cross=cross)
        return (x, mask, *others)
