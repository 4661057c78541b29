"""The head view is sent the exact values, or the strongest of them and what is left out."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from streamlit.testing.v1 import AppTest

from tests.browser.apps.random_attention import random_map
from transformer.analysis.reading import Reading
from transformer.recording import Recording
from viz.components.head_view import head_view
from viz.components.head_view.head_view import (
    KEYS,
    MAX_DENSE,
    MAX_RANKED,
    HeadView,
    pack_head_view,
)
from viz.components.kit.browser import unpack
from viz.map_words import describe_heads, row_title


@pytest.mark.parametrize("kind", ["encoder_self", "decoder_self", "cross"])
def test_every_value_is_sent_and_masked_cells_are_none(kind: str) -> None:
    map = random_map(kind, 3, 9)
    header, (values,) = unpack(pack_head_view(map, 0))
    allowed = map.allowed(0).numpy()
    np.testing.assert_array_equal(np.isnan(values), ~allowed)
    np.testing.assert_array_equal(values[allowed], map.values(0).numpy()[allowed])
    assert (header["n_heads"], header["layer"], header["bound"]) == (3, 0, 1.0)


def test_rows_are_named_as_they_are_read() -> None:
    written, _ = unpack(pack_head_view(random_map("cross", 1, 3), 0))
    read, _ = unpack(pack_head_view(random_map("cross", 1, 3, Reading(rows="read")), 0))
    assert (written["rows"][0], read["rows"][0]) == (["▁word0", 0], ["▁read0", 0])
    assert (written["titles"][0], read["titles"][0]) == (row_title(True), row_title(False))
    assert written["text"] != read["text"]
    assert len(written["columns"]) == 5


def test_a_line_of_words_names_the_cells_that_it_stands_for_but_masked_ones() -> None:
    map = random_map("decoder_self", 2, 6, Reading(words=True))
    map = replace(
        map, row_groups=((0,), (1, 2, 3), (4, 5)), column_groups=((0,), (1, 2, 3), (4, 5))
    )
    header, _ = unpack(pack_head_view(map, 0))
    assert header["rows_of"] == header["columns_of"] == [[0], [1, 2, 3], [4, 5]]
    assert header["closed"] == [[1, 2], [1, 3], [2, 3], [4, 5]]
    plain, _ = unpack(pack_head_view(random_map("decoder_self", 2, 6), 0))
    assert plain["closed"] == []


@pytest.mark.parametrize("kind", ["encoder_self", "decoder_self"])
def test_of_a_long_text_the_strongest_keys_and_what_is_left_out(kind: str) -> None:
    map = random_map(kind, 4, 300)
    _, (columns, values, rest) = unpack(pack_head_view(map, 0))
    whole, allowed = map.values(0), map.allowed(0)
    for head in range(4):
        for row in (0, 5, 150, 299):
            strongest = sorted(whole[head, row].tolist(), reverse=True)[: KEYS[1]]
            sent = values[head, row][~np.isnan(values[head, row])]
            assert sent.tolist() == strongest[: len(sent)]
            assert len(sent) == min(KEYS[1], int(allowed[head, row].sum()))
            for column, value in zip(columns[head, row], sent, strict=False):
                assert whole[head, row, column] == value
            assert rest[head, row] == pytest.approx(1 - sent.sum(), abs=1e-5)


@pytest.mark.parametrize("n", [16, 128, 129, 512, 2048])
def test_sizes(n: int) -> None:
    payload = pack_head_view(random_map("encoder_self", 12, n), 0)
    header_size = 60 * n + 2000
    assert len(payload) <= (4 * 12 * n * n if 48 * n * n <= MAX_DENSE else MAX_RANKED) * 1.05 + (
        header_size
    )
    if n == 2048:
        _, (columns, _, _) = unpack(payload)
        assert columns.shape[-1] == 16


def test_signed_values_are_ranked_by_size() -> None:
    values = torch.tensor([[0.5, -2.0, 9.0, 1.0]])
    allowed = torch.tensor([[True, True, False, True]])
    columns, kept, rest = head_view._strongest(values, allowed, 2)
    assert columns.tolist() == [[1, 3]]
    assert kept.tolist() == [[-2.0, 1.0]]
    assert rest.tolist() == [0.5]


def _app() -> None:
    from viz.components.head_view.head_view import HeadView, head_view
    from viz.components.kit.browser import pack
    from viz.theme import LIGHT

    head_view(HeadView("cross", 0).data(pack({}), LIGHT, head=2, pins=("q1",)), "view")


def test_the_chosen_head_is_shown_until_something_is_done() -> None:
    app = AppTest.from_function(_app).run()
    assert not app.exception
    (component,) = app.get("bidi_component")
    header, _ = unpack(component.proto.bytes)
    assert (header["head"], header["heads"], header["pins"]) == (2, [2], ["q1"])
    assert len(header["colours"]) == 16


def test_it_speaks_of_the_heads_that_are_shown(recording: Recording) -> None:
    view = HeadView("encoder_self", 0)
    n_keys = len(recording.source)
    one = view.says(recording, head=1, lines=2)
    assert one.startswith("L0 H1, ") and "head 1 of layer 0" in one
    assert one.endswith(" The 2 largest of each query are drawn.") and n_keys > 2
    every = view.says(recording, head=0, heads=tuple(range(99)))
    assert every == view.says(recording)
    assert view.says(recording, head=0, heads=()).startswith("no head of L0")


def test_of_several_heads_the_strongest_cell_of_theirs() -> None:
    map = random_map("encoder_self", 4, 6)
    some = describe_heads(map, [0], (1, 2))
    values = map.values(0)[1:3]
    assert some.startswith("H1, H2 of L0, ")
    assert f"head {1 + int(values.flatten(1).amax(1).argmax())} of layer 0" in some
    assert f"({float(values.max()):.3f})" in some
