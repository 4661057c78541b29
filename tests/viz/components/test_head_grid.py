"""The grid's thumbnails are the values they stand for, and its numbers those of the metrics."""

from typing import Any

import numpy as np
import pytest
import torch

from tests.random_maps import random_map
from transformer import decode, load_checkpoint, record
from transformer.analysis.metrics.metrics import measure
from transformer.analysis.reading import AttentionMap, Reading, read
from transformer.discover import discover
from viz.components.head_grid.head_grid import pack_head_grid
from viz.components.kit.browser import unpack
from viz.components.kit.picture import FULL, MASKED, sides

SCALES = ("share", "size", "signed")


def packed(map: AttentionMap) -> tuple[dict[str, Any], list[np.ndarray]]:
    return unpack(pack_head_grid(map))


def expected_byte(map: AttentionMap, values: np.ndarray, allowed: np.ndarray) -> int:
    """Of one pixel: the value of its cells that is largest, or farthest from 0."""
    if not allowed.any():
        return MASKED
    top = np.float32(map.bounds[1])
    if map.lens.scale == "signed":
        cells = values.ravel()
        return int(np.round(cells[np.abs(cells).argmax()] / top * np.float32(127) + 127))
    return int(np.round(np.sqrt(values[allowed].max() / top) * np.float32(FULL)))


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("kind", ["encoder_self", "decoder_self"])
@pytest.mark.parametrize(("n", "block"), [(1, 1), (9, 1), (65, 2), (150, 3)])
def test_every_pixel_is_the_maximum_of_its_cells(scale: Any, kind: str, n: int, block: int) -> None:
    map = random_map(2, 2, n, n, kind, scale)
    header, (thumbnails, *_) = packed(map)
    side = -(-n // block)
    assert header["block"] == [block, block]
    assert header["lens"]["bound"] == pytest.approx(map.bounds[1])
    assert thumbnails.shape == (2, 2, side, side)
    for layer in range(2):
        values, allowed = map.values(layer).numpy(), map.allowed(layer).numpy()
        for head, row, column in np.ndindex(2, side, side):
            rows, columns = (slice(i * block, (i + 1) * block) for i in (row, column))
            cells = head, rows, columns
            byte = expected_byte(map, values[cells], allowed[cells])
            assert thumbnails[layer, head, row, column] == byte


def test_large_maps_go_head_by_head_and_small_ones_together(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    map = random_map(3, 4, 20, 20, "decoder_self")
    together = pack_head_grid(map)
    monkeypatch.setattr("transformer.analysis.cell._BATCH", 2 * 20 * 20)
    _, at_once = unpack(together)
    _, by_twos = packed(map)
    for a, b in zip(at_once, by_twos, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5)


def test_masked_is_not_zero() -> None:
    map = random_map(1, 2, 12, 12, "decoder_self")
    header, (thumbnails, *_) = packed(map)
    assert header["masked"]
    np.testing.assert_array_equal(thumbnails[0] == MASKED, ~map.allowed(0).numpy())


def test_each_layer_and_head_may_be_masked_in_its_own_way() -> None:
    map = random_map(3, 2, 6, 6)
    mask = torch.rand(3, 2, 1, 6, generator=torch.Generator().manual_seed(1)) > 0.4
    for call, of_layer in zip(map.attention.calls, mask, strict=True):
        object.__setattr__(call, "mask", of_layer)
    _, (thumbnails, *_) = packed(map)
    np.testing.assert_array_equal(thumbnails == MASKED, ~mask.expand(3, 2, 6, 6).numpy())


def test_axes_are_pooled_each_by_itself() -> None:
    header, (thumbnails, *_) = packed(random_map(1, 1, 10, 130, "cross"))
    assert header["block"] == [1, 3]
    assert thumbnails.shape == (1, 1, 10, 44)
    assert not header["masked"]


def test_the_strongest_cell_is_one_of_a_row_with_a_choice() -> None:
    map = random_map(2, 3, 7, 7, "decoder_self")
    _, (_, strongest, value, *_) = packed(map)
    for layer, head in np.ndindex(2, 3):
        weights = map.values(layer, head)
        row, column = strongest[layer, head]
        assert row > 0  # row 0 of causal attention can only attend to itself
        assert weights[row, column] == weights[1:].max() == value[layer, head]


def test_on_two_sides_the_strongest_cell_is_the_farthest_from_zero() -> None:
    map = random_map(2, 3, 7, 7, scale="signed")
    _, (_, strongest, value, *_) = packed(map)
    for layer, head in np.ndindex(2, 3):
        values = map.values(layer, head)
        assert values.abs().max() == abs(value[layer, head])
        assert values[tuple(strongest[layer, head])] == value[layer, head]


def test_a_single_token_has_a_strongest_cell() -> None:
    _, (_, strongest, value, *_) = packed(random_map(1, 1, 1, 1, "decoder_self"))
    assert strongest.ravel().tolist() == [0, 0]
    assert value.item() == 1


@pytest.mark.parametrize("reading", [Reading(), Reading(special="hidden")])
@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("kind", ["encoder_self", "cross"])
def test_metrics_are_those_of_the_weights(kind: str, scale: Any, reading: Reading) -> None:
    map = random_map(3, 4, 9, 9 + (kind == "cross"), kind, scale, reading=reading)
    header, (*_, metrics) = packed(map)
    declared = discover("transformer.analysis.metrics", "METRIC")
    for layer in range(3):
        expected = measure(map.attention, layer)
        assert [metric["name"] for metric in header["metrics"]] == list(expected)
        for metric, values in zip(header["metrics"], metrics, strict=True):
            of_layer = expected[metric["name"]]
            np.testing.assert_allclose(values[layer], of_layer, rtol=1e-6)
            texts = [declared[metric["name"]].text(float(value)) for value in values[layer]]
            assert metric["texts"][4 * layer : 4 * layer + 4] == texts


def test_each_head_of_a_kind_has_the_same_numbers_whatever_the_sentence() -> None:
    checkpoint = load_checkpoint("checkpoints/en-de-small")
    named: dict[str, set[tuple[str, ...]]] = {}
    for text in ("It rains.", "The old man likes the sea, the sea, the sea."):
        target = decode(checkpoint, text, method="greedy").target
        recording = record(checkpoint, text, target)
        for kind in recording.attentions:
            header, _ = packed(read(recording, kind))
            named.setdefault(kind, set()).add(tuple(header["named"]))
    assert set(map(len, named.values())) == {1}
    assert {len(each) for one in named.values() for each in one} == {3}


def test_a_lens_without_heads_has_one_column_and_no_metrics() -> None:
    header, (thumbnails, _, _, metrics) = packed(random_map(3, 4, 9, 9, per_head=False))
    assert thumbnails.shape == (3, 1, 9, 9)
    assert (header["metrics"], header["named"], metrics.shape) == ([], [], (0, 3, 1))
    assert not header["lens"]["per_head"]


def test_rows_are_named_as_they_are_read() -> None:
    wrote = random_map(1, 1, 5, 6, "cross")
    header, _ = packed(wrote)
    assert "While writing {row}" in header["sentence"]["seen"]
    assert header["rows"][-1] == ["</s>", 1]
    assert header["sides"] == sides(wrote)
    header, _ = packed(random_map(1, 1, 5, 6, "cross", reading=Reading(rows="read")))
    assert "After reading {row}" in header["sentence"]["seen"]
    assert header["rows"][0] == ["▁target0", 0]


def test_a_map_without_rows_has_nothing_to_show() -> None:
    map = random_map(2, 2, 1, 1, reading=Reading(special="hidden"))
    assert not map.rows
    _, (thumbnails, _, value, *_) = packed(map)
    assert thumbnails.shape == (2, 2, 0, 0)
    assert np.isnan(value).all()


def test_size_of_144_heads_at_30_tokens() -> None:
    assert len(pack_head_grid(random_map(12, 12, 30, 30))) <= 0.2 * 2**20
