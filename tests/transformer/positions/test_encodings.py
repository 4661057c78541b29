"""Positional encodings measured, against the closed form of AIAYN section 3.5."""

import math

import pytest
import torch
from torch import Tensor

from transformer.layers.embedding import sinusoids
from transformer.positions.encodings import find_pairs, shift, similarity, wavelengths


def halves(table: Tensor) -> Tensor:
    return torch.cat([table[:, 0::2], table[:, 1::2]], dim=1)


SIZES = [(7, 64), (40, 10), (256, 256), (256, 512), (2, 8)]


@pytest.mark.parametrize(("max_len", "d_model"), SIZES)
def test_wavelengths_are_those_of_the_paper(max_len: int, d_model: int) -> None:
    expected = torch.tensor(
        [2 * math.pi * 10000 ** (2 * (i // 2) / d_model) for i in range(d_model)],
        dtype=torch.float64,
    )
    measured = wavelengths(sinusoids(max_len, d_model))
    torch.testing.assert_close(measured, expected, rtol=1e-4, atol=0)


@pytest.mark.parametrize(("max_len", "d_model"), SIZES)
def test_no_layout_is_assumed(max_len: int, d_model: int) -> None:
    table = sinusoids(max_len, d_model)
    torch.testing.assert_close(wavelengths(halves(table)), halves(wavelengths(table)[None])[0])


def test_half_precision_is_still_recognised() -> None:
    table = sinusoids(128, 64)
    measured = wavelengths(table.half())
    torch.testing.assert_close(measured[:32], wavelengths(table)[:32], rtol=0.01, atol=0)


@pytest.mark.parametrize("shape", [(40, 16), (1, 16), (40, 15)])
def test_encodings_that_do_not_turn_are_not_called_sinusoidal(shape: tuple[int, int]) -> None:
    table = torch.randn(shape, generator=torch.Generator().manual_seed(0))
    assert find_pairs(table) is None
    assert wavelengths(table).isnan().all()
    assert shift(table, 0) is None


@pytest.mark.parametrize("layout", [lambda table: table, halves])
@pytest.mark.parametrize("offset", [0, 1, 5, 39])
def test_a_shift_is_a_rotation_of_each_pair(layout: object, offset: int) -> None:
    table = layout(sinusoids(40, 32))  # type: ignore[operator]
    found = shift(table, offset)
    assert found is not None
    assert found.error < 1e-5
    torch.testing.assert_close(found.matrix @ found.matrix.mT, torch.eye(32).double())
    for angle, frequency in zip(found.angles, 10000 ** (-torch.arange(16) / 16), strict=True):
        assert math.cos(float(angle)) == pytest.approx(math.cos(offset * frequency), abs=1e-5)
        assert math.sin(float(angle)) == pytest.approx(math.sin(offset * frequency), abs=1e-5)


def test_the_shift_is_one_map_for_all_positions() -> None:
    table = sinusoids(40, 32)
    found = shift(table, 3)
    assert found is not None
    for position in (0, 10, 36):
        moved = found.matrix @ table[position].double()
        torch.testing.assert_close(moved, table[position + 3].double(), rtol=0, atol=1e-6)


def test_an_offset_beyond_the_table_is_refused() -> None:
    with pytest.raises(ValueError, match="offset 40"):
        shift(sinusoids(40, 8), 40)


def test_similarity_depends_on_distance_alone() -> None:
    table = sinusoids(30, 64)
    product = similarity(table)
    assert product.shape == (30, 30)
    for distance in range(30):
        along = product.diagonal(distance)
        torch.testing.assert_close(along, along[:1].expand_as(along), rtol=0, atol=1e-4)
    torch.testing.assert_close(product.diagonal(), torch.full((30,), 32.0))
    torch.testing.assert_close(similarity(table, normalised=True), product / 32)
