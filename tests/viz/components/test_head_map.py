"""What the large map is sent: every value, or the true maxima of its blocks."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from streamlit.testing.v1 import AppTest

from tests.browser.apps.maps import drawn
from tests.representatives import cases
from transformer import load_checkpoint, record
from transformer.analysis.lenses.lens import Lens
from transformer.analysis.reading import AttentionMap, Reading, Selection, lenses, read
from transformer.recording import Recording
from viz.components.head_grid.head_grid import HeadGrid
from viz.components.head_map.head_map import MAX_CELLS, MAX_REGION, HeadMap, pack_head_map
from viz.components.head_view.head_view import HeadView
from viz.components.kit.browser import unpack
from viz.labels import label, percent

KINDS = ("encoder_self", "decoder_self", "cross")


def expected(map: AttentionMap, layer: int, head: int) -> np.ndarray:
    """Its values, NaN where masked."""
    values = map.values(layer, head).numpy().copy()
    values[~map.allowed(layer)[head].numpy()] = np.nan
    return values


@pytest.mark.parametrize("kind", KINDS)
def test_a_map_is_sent_as_it_is(recording: Recording, kind: str) -> None:
    map = read(recording, kind)
    header, (values, largest) = unpack(pack_head_map(map, 1, 1))
    assert values.dtype == np.float32
    np.testing.assert_array_equal(values, expected(map, 1, 1))
    assert largest.tolist() == map.values(1, 1).argmax(-1).tolist()
    assert header["id"] == f"{kind} L1 H1"
    assert header["block"] == [1, 1]
    assert header["masked"] == (kind == "decoder_self")
    assert header["bounds"] == [0, 1]
    assert [text for text, _ in header["rows"]] == [label(token) for token in map.rows]
    assert [text for text, _ in header["columns"]] == [label(token) for token in map.columns]


def test_what_was_left_out_is_said(recording: Recording) -> None:
    map = read(recording, "decoder_self", Reading(special="renormalised"))
    header, (values, _) = unpack(pack_head_map(map, 0, 0))
    assert values.shape == (len(map.rows), len(map.columns))
    *notes, share = header["notes"]
    hidden = 1 - read(recording, "decoder_self", Reading(special="hidden")).values(0, 0).sum(-1)
    assert notes == list(map.notes) != [] and percent(float(hidden.mean())) in share


@pytest.mark.parametrize(
    ("n_rows", "n_columns", "kind", "block"),
    [(520, 520, "decoder_self", (2, 2)), (90, 3001, "cross", (1, 6)), (1030, 300, "cross", (3, 1))],
)
def test_pooled_maps_are_the_true_maxima(
    n_rows: int, n_columns: int, kind: str, block: tuple[int, int]
) -> None:
    map = drawn(n_rows, n_columns, kind)
    header, (values, _, places, _) = unpack(pack_head_map(map, 0, 1))
    whole = expected(map, 0, 1)
    down, across = block
    assert tuple(header["block"]) == block
    assert values.shape == places.shape == (-(-n_rows // down), -(-n_columns // across))
    assert max(values.shape) <= MAX_CELLS
    for row in range(values.shape[0]):
        for column in range(values.shape[1]):
            top, left = row * down, column * across
            cells = whole[top : top + down, left : left + across]
            if np.isnan(cells).all():
                assert np.isnan(values[row, column])
                continue
            assert values[row, column] == np.nanmax(cells)
            y, x = divmod(int(places[row, column]), across)
            assert whole[top + y, left + x] == values[row, column]


@pytest.mark.parametrize(
    ("wanted", "sent"),
    [
        (None, (0, 0, 0, 0)),
        ((100, 200, 50, 60), (100, 200, 50, 60)),
        ((100, 600, 0, 600), (100, 100 + MAX_REGION, 0, MAX_REGION)),
        ((500, 700, -5, 20), (500, 600, 0, 20)),
        ((700, 800, 700, 800), (600, 600, 600, 600)),
    ],
)
def test_a_region_is_exact(wanted: Any, sent: tuple[int, int, int, int]) -> None:
    map = drawn(600, 600, "decoder_self")
    header, (*_, part) = unpack(pack_head_map(map, 0, 0, wanted))
    assert tuple(header["region"]) == sent
    top, bottom, left, right = sent
    np.testing.assert_array_equal(part, expected(map, 0, 0)[top:bottom, left:right])


def test_each_rows_largest_value_is_exact_where_values_are_pooled() -> None:
    map = drawn(600, 600, "decoder_self")
    _, (_, largest, _, _) = unpack(pack_head_map(map, 0, 0))
    assert largest.tolist() == map.values(0, 0).argmax(-1).tolist()


def test_a_signed_lens_has_its_largest_value_among_negative_ones_and_its_own_bounds() -> None:
    def compute(recording: Recording, kind: str, layer: int) -> torch.Tensor:
        return -1 - recording.attentions[kind].weights(layer)

    lens = Lens("minus", "Minus", "−1 − A", "For this test.", "signed", compute)
    map = replace(drawn(30, 30, "decoder_self"), lens=lens)
    header, (values, largest) = unpack(pack_head_map(map, 0, 0))
    low, high = header["bounds"]
    assert -low == high == map.values(0).abs().max()
    assert largest.tolist() == np.nanargmax(values, 1).tolist()
    assert header["lens"] == {
        "name": "minus",
        "title": "Minus",
        "scale": "signed",
        "per_head": True,
    }


def test_a_signed_map_is_pooled_to_the_values_furthest_from_zero() -> None:
    def compute(recording: Recording, kind: str, layer: int) -> torch.Tensor:
        return recording.attentions[kind].calls[layer].scores()

    lens = Lens("score", "Score", "q·k", "For this test.", "signed", compute)
    map = replace(drawn(520, 520), lens=lens)
    _, (values, *_) = unpack(pack_head_map(map, 0, 0))
    blocks = map.values(0, 0).numpy().reshape(260, 2, 260, 2).transpose(0, 2, 1, 3)
    blocks = blocks.reshape(260, 260, 4)
    furthest = np.take_along_axis(blocks, np.abs(blocks).argmax(-1)[..., None], -1)[..., 0]
    np.testing.assert_array_equal(values, furthest)
    assert (values < 0).any() and (values > 0).any()


def test_the_text_names_the_strongest_cell_of_a_row_with_a_choice() -> None:
    map = drawn(20, 20, "decoder_self")
    says = unpack(pack_head_map(map, 0, 0))[0]["says"]
    values = map.values(0, 0)[1:]  # row 0 can only attend to itself
    row, column = divmod(int(values.argmax()), 20)
    assert says.endswith(f"looks at “column{column}” ({values[row, column]:.3f}).")
    assert f"Strongest: After reading “column{row + 1}”, head 0 of layer 0" in says
    assert "L0 H0, decoder self-attention from 20 queries to 20 keys" in says


def test_sizes() -> None:
    assert len(pack_head_map(drawn(512, 512), 0, 0)) <= 1.1 * 2**20
    assert len(pack_head_map(drawn(2048, 2048), 0, 0, (0, 256, 0, 256))) <= 2.1 * 2**20


def _page() -> None:
    from transformer.analysis.reading import Selection
    from viz.components.head_map.head_map import HeadMap, head_map
    from viz.components.kit.browser import pack
    from viz.theme import DARK

    picture = HeadMap(Selection("cross", 0, 0))
    head_map(picture.data(pack({}), DARK, cell=(3, 4), path=True), "map")


def test_mounts() -> None:
    app = AppTest.from_function(_page).run()
    assert not app.exception
    (component,) = app.get("bidi_component")
    header, _ = unpack(component.proto.bytes)
    assert (header["cell"], header["path"], header["asks"]) == ([3, 4], True, False)


BAD = (torch.nan, torch.inf, 1e30)
LENSES = [name for name, lens in lenses().items() if not lens.of_output]


@pytest.mark.parametrize(
    ("lens", "bad"),
    cases(
        [(lens, bad) for lens in LENSES for bad in BAD],
        {lens: (lens, torch.nan) for lens in LENSES}
        | {f"{bad} as a weight": (LENSES[0], bad) for bad in BAD},
    ),
)
def test_a_model_that_computes_no_numbers_is_told_apart_from_a_mask(lens: str, bad: float) -> None:
    checkpoint = load_checkpoint("checkpoints/copy", "cpu")
    weights = next(p for n, p in checkpoint.model.named_parameters() if "encoder" in n)
    with torch.no_grad():
        weights.view(-1)[0] = bad
    recording, reading = record(checkpoint, "2 3 4", "2 3 4"), Reading(lens)
    for picture in (
        HeadMap(Selection("encoder_self", 0, 0), reading),
        HeadView("encoder_self", 0, reading),
        HeadGrid(("encoder_self",), reading),
    ):
        unpack(picture.payload(recording))
        assert "masked" not in picture.says(recording)
