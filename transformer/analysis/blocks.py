"""A large map as blocks of cells: the largest value of each block, or the one farthest from 0."""

import torch
from torch import Tensor
from torch.nn import functional as F

Block = tuple[int, int]
"""The numbers of rows and columns of cells in one block."""


def maxima(values: Tensor, block: Block) -> Tensor:
    """[N, R, C] -> [N, R', C'], each block's maximum; the last of a row or column may be smaller.

    Of booleans: whether any cell of a block is true.
    """
    for axis, size in ((1, block[0]), (2, block[1])):
        n = values.size(axis)
        if size == 1:
            continue
        whole = n - n % size
        largest = values.narrow(axis, 0, whole).unflatten(axis, (-1, size)).amax(axis + 1)
        if whole < n:
            rest = values.narrow(axis, whole, n - whole).amax(axis, keepdim=True)
            largest = torch.cat([largest, rest], axis)
        values = largest
    return values


def farthest(values: Tensor, block: Block) -> Tensor:
    """[N, R, C] -> [N, R', C']: each block's value that is farthest from 0, with its sign."""
    high, low = maxima(values, block), -maxima(-values, block)
    return torch.where(-low > high, low, high)


def located(
    values: Tensor, allowed: Tensor, block: Block, *, signed: bool = False
) -> tuple[Tensor, Tensor]:
    """Each block's largest allowed value [N, R', C'], NaN where none is, and which cell it is.

    values, allowed: [N, R, C]. signed: the value farthest from 0 instead. A block's cells are
    counted row by row.
    """
    sizes = (values.abs() if signed else values).masked_fill(~allowed, -torch.inf)
    largest, at = F.max_pool2d(sizes, block, ceil_mode=True, return_indices=True)
    row, column = at // values.size(2), at % values.size(2)
    result = values.flatten(1).gather(1, at.flatten(1)).view_as(largest)
    places = row % block[0] * block[1] + column % block[1]
    return result.masked_fill(largest == -torch.inf, torch.nan), places


def block_within(n_rows: int, n_columns: int, most: int, side: int | None = None) -> Block:
    """The block that makes a map small enough: one cell up to most x most cells.

    side: the rows and columns, at most, of what a larger map becomes; `most` when left out.
    """
    if n_rows * n_columns <= most**2:
        return 1, 1
    return block_of_sides(n_rows, n_columns, side or most)


def block_of_sides(n_rows: int, n_columns: int, side: int) -> Block:
    """The block with which neither axis keeps more than `side` blocks."""
    return max(1, -(-n_rows // side)), max(1, -(-n_columns // side))
