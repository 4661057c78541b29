"""Blocks of a map hold the value that stands out, and say which cell it is."""

import numpy as np
import pytest
import torch
from torch import Tensor

from transformer.analysis.reading import block_of_sides, block_within, farthest, located, maxima

BLOCKS = [(1, 1), (2, 3), (4, 1), (7, 10)]


def random(n_rows: int = 7, n_columns: int = 10) -> Tensor:
    return torch.randn(3, n_rows, n_columns, generator=torch.Generator().manual_seed(0))


def cells_of(values: Tensor, block: tuple[int, int], head: int, row: int, column: int) -> Tensor:
    down, across = block
    rows, columns = slice(row * down, (row + 1) * down), slice(column * across, None)
    return values[head, rows, columns][:, :across]


@pytest.mark.parametrize("block", BLOCKS)
def test_each_block_has_its_maximum_or_what_is_farthest_from_0(block: tuple[int, int]) -> None:
    values = random()
    most, far = maxima(values, block), farthest(values, block)
    assert most.shape == far.shape == (3, -(-7 // block[0]), -(-10 // block[1]))
    for place in np.ndindex(most.shape):
        cells = cells_of(values, block, *place).flatten()
        assert most[place] == cells.max()
        assert far[place] == cells[cells.abs().argmax()]


def test_a_block_of_booleans_is_true_where_one_cell_is() -> None:
    cells = torch.zeros(1, 5, 5, dtype=torch.bool)
    cells[0, 4, 2] = True
    assert maxima(cells, (2, 2)).nonzero().tolist() == [[0, 2, 1]]


@pytest.mark.parametrize("signed", [False, True])
@pytest.mark.parametrize("block", BLOCKS)
def test_the_cell_of_each_block_is_named_and_masked_ones_never_win(
    block: tuple[int, int], signed: bool
) -> None:
    values, allowed = random(), torch.ones(3, 7, 10, dtype=torch.bool)
    allowed[1] = False
    allowed[2, :, ::2] = False
    found, places = located(values, allowed, block, signed=signed)
    assert found[1].isnan().all()
    for place in np.ndindex(found.shape):
        cells = cells_of(values, block, *place)
        is_open = cells_of(allowed, block, *place)
        if not is_open.any():
            assert found[place].isnan()
            continue
        row, column = divmod(int(places[place]), block[1])
        sizes = (cells.abs() if signed else cells)[is_open]
        assert is_open[row, column] and cells[row, column] == found[place]
        assert (found[place].abs() if signed else found[place]) == sizes.max()


def test_sizes_of_blocks() -> None:
    assert block_within(512, 512, 512) == block_within(256, 1024, 512) == (1, 1)
    assert block_within(1100, 1100, 1024, 512) == (3, 3)
    assert block_within(10, 2000, 100) == (1, 20)
    assert block_of_sides(0, 65, 64) == (1, 2)
