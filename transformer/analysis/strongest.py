"""The strongest cell of a head: the value farthest from 0, in a row that had a choice."""

from collections.abc import Sequence

import torch
from torch import Tensor

from transformer.recording import Attention


def rows_with_choice(allowed: Tensor) -> Tensor:
    """Rows among which the strongest cell is looked for: [..., R, C] -> [..., R].

    Rows that may attend to one key only are left out: their 1.0 is not a finding. Where every row
    is such a row, all count.
    """
    free = allowed.sum(-1) > 1
    return free | ~free.any(-1, keepdim=True)


def strongest_cells(sizes: Tensor, rows: Tensor | None) -> Tensor:
    """Row and column of each head's largest size: [N, R, C] -> [N, 2].

    sizes: none below 0. rows: as `rows_with_choice` gives them [N or 1, R]; None: all.
    """
    peaks = sizes.amax(-1)  # [N, R]
    if rows is not None:
        peaks = torch.where(rows, peaks, -1.0)
    row = peaks.argmax(-1)
    column = sizes[torch.arange(len(sizes)), row].argmax(-1)
    return torch.stack([row, column], -1)


def strongest_cell(values: Tensor, allowed: Tensor) -> tuple[int, int] | None:
    """Row and column of the value [R, C] farthest from 0; None where no open one is finite."""
    allowed = allowed & values.isfinite()  # some models compute NaN
    if not bool(allowed.any()):
        return None
    sizes = values.abs().masked_fill(~allowed, -1.0)
    row, column = strongest_cells(sizes[None], rows_with_choice(allowed)[None])[0].tolist()
    return row, column


def strongest_weight(
    attention: Attention,
    layer: int,
    head: int,
    queries: Sequence[int] | None = None,
    keys: Sequence[int] | None = None,
) -> tuple[int, int]:
    """Query and key of a head's largest weight.

    queries, keys: the positions looked at, such as those of two words; all when left out.
    """
    rows = list(range(len(attention.queries)) if queries is None else queries)
    columns = list(range(len(attention.keys)) if keys is None else keys)
    weights = attention.weights(layer, head)[rows][:, columns]
    free = rows_with_choice(attention.allowed(layer, head)[rows])
    row, column = strongest_cells(weights[None], free[None])[0].tolist()
    return rows[row], columns[column]


def largest_size(values: Tensor) -> float:
    """The largest absolute value that is finite; 0 where there is none."""
    finite = values[values.isfinite()]
    return float(finite.abs().max()) if finite.numel() else 0.0
