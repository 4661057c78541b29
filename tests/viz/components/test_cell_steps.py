"""What is packed for the browser is the Cell, and the sentence says what it holds."""

import math
from dataclasses import replace
from types import MappingProxyType

import numpy as np
import pytest
import torch
from streamlit.testing.v1 import AppTest

from transformer.analysis.cell import Cell, inside
from transformer.recording import Attention, AttentionCall, Recording
from transformer.token import Token
from viz.components.cell_steps.cell_steps import N_COMPETITORS, describe, pack_cell
from viz.components.kit.browser import unpack
from viz.sentence import weight_wording
from viz.theme import LIGHT

VECTORS = ("q", "k", "products", "running", "value", "part", "output", "scores", "weights")


def tokens(n: int) -> tuple[Token, ...]:
    return tuple(Token(i, f"▁piece{i}") for i in range(n))


def cell_of(
    n_keys: int = 6,
    key: int = 1,
    size: float = 1.0,
    masked: tuple[int, ...] = (),
    d_key: int = 4,
    scale: float = 0.5,
) -> Cell:
    """One head, one query; size: of its q, and so of its scores."""
    random = torch.Generator().manual_seed(3)
    q, k, v = (
        torch.randn(1, n, d, generator=random)
        for n, d in ((1, d_key), (n_keys, d_key), (n_keys, 7))
    )
    mask = torch.ones(1, 1, n_keys, dtype=torch.bool)
    mask[..., list(masked)] = False
    call = AttentionCall(size * q, k, v, mask, scale, is_causal=False)
    attention = Attention("cross", tokens(1), tokens(n_keys), (call,))
    recording = Recording(tokens(n_keys), (), MappingProxyType({"cross": attention}), {}, q)
    return inside(recording, "cross", 0, 0, 0, key)


def unpacked(cell: Cell) -> tuple[dict, dict[str, np.ndarray]]:
    keys = tokens(len(cell.scores))
    words = weight_wording("encoder_self")
    header, arrays = unpack(pack_cell(cell, keys[cell.query], keys[cell.key], keys, words))
    return header, dict(zip((*VECTORS, "allowed", "shown"), arrays, strict=True))


def test_packed_numbers_are_the_cells() -> None:
    cell = cell_of(masked=(2,))
    header, arrays = unpacked(cell)
    for name in (*VECTORS, "allowed"):
        np.testing.assert_array_equal(arrays[name], getattr(cell, name).numpy())
    for name in ("dot", "scale", "score", "weight", "share", "is_masked", "n_allowed"):
        assert header[name] == getattr(cell, name)
    assert header["norms"] is None
    assert math.isclose(header["share_sum"], 1.0, abs_tol=1e-6)
    assert header["cell"] == [0, 1]


def test_norms_after_the_output_projection_go_along() -> None:
    header, _ = unpacked(replace(cell_of(), norms=(0.25, 2.0)))
    assert header["norms"] == [0.25, 2.0]


@pytest.mark.parametrize("size", [1.0, 30.0, -30.0, 0.0])
def test_exponentials_make_the_weight_and_stay_readable(size: float) -> None:
    for key in range(6):
        cell = cell_of(key=key, size=size)
        header, _ = unpacked(cell)
        assert math.isclose(header["exp"] / header["exp_sum"], cell.weight, abs_tol=1e-6)
        expected = sum(math.exp(float(s) - header["shift"]) for s in cell.scores)
        assert math.isclose(header["exp_sum"], expected, rel_tol=1e-9)
        assert 1 <= header["exp_sum"] <= 6 * math.exp(10)


def test_a_short_row_shows_every_allowed_key() -> None:
    header, arrays = unpacked(cell_of(masked=(2, 5)))
    assert arrays["shown"].tolist() == [0, 1, 3, 4]
    assert [label for label, _ in header["labels"]] == ["▁piece0", "▁piece1", "▁piece3", "▁piece4"]
    assert header["rest"] == [0, 0.0]


def test_a_long_row_shows_the_strongest_and_the_rest_as_one() -> None:
    weights = cell_of(100).weights
    weakest, strongest = int(weights.argmin()), int(weights.argmax())
    for key, n_shown in ((weakest, N_COMPETITORS + 1), (strongest, N_COMPETITORS)):
        header, arrays = unpacked(cell_of(100, key))
        shown = arrays["shown"].tolist()
        assert shown == sorted(shown)
        assert len(shown) == n_shown
        assert {key, *weights.topk(N_COMPETITORS).indices.tolist()} == set(shown)
        n_rest, rest = header["rest"]
        assert n_rest == 100 - n_shown
        assert math.isclose(rest + float(weights[shown].sum()), 1.0, abs_tol=1e-6)


def test_a_masked_key_is_shown_among_those_that_are_not() -> None:
    header, arrays = unpacked(cell_of(key=2, masked=(2, 3)))
    assert arrays["shown"].tolist() == [0, 1, 2, 4, 5]
    assert (header["exp"], header["weight"]) == (0.0, 0.0)


def test_a_row_with_every_key_masked() -> None:
    header, arrays = unpacked(cell_of(masked=tuple(range(6))))
    assert arrays["shown"].tolist() == [1]
    assert (header["exp_sum"], header["n_allowed"], header["share_sum"]) == (0.0, 0, 0.0)


@pytest.mark.parametrize(
    ("d_key", "scale", "name"), [(4, 0.5, "1/√4"), (32, 32**-0.5, "1/√32"), (4, 1.0, "")]
)
def test_the_scale_is_named_where_it_has_a_name(d_key: int, scale: float, name: str) -> None:
    assert unpacked(cell_of(d_key=d_key, scale=scale))[0]["scale_name"] == name


def test_the_sentence() -> None:
    cells = [cell_of(key=key) for key in range(6)]
    first = max(cells, key=lambda cell: cell.score)
    words = weight_wording("cross", is_produced=True)
    said = describe(first, Token(1, "▁Tier"), Token(2, "▁animal"), words)
    numbers = f"q·k {first.dot:.2f} × 0.5000 = {first.score:.2f}"
    share = f"{round(100 * first.share)} % of the head's output"
    assert said == (
        f"While writing “Tier”, head 0 of layer 0 looks at “animal” ({first.weight:.3f}). "
        f"Inside: {numbers}, the largest of 6 scores, {share}"
    )
    last = min(cells, key=lambda cell: cell.score)
    said = describe(last, Token(1, "▁Tier"), Token(2, "▁"), weight_wording("encoder_self"))
    assert said.startswith(
        f"“Tier” looks at “␣” in head 0 of layer 0 ({last.weight:.3f}). Inside: q·k −"
    )
    assert "rank 6 of 6 scores" in said


def test_the_sentence_of_a_masked_cell() -> None:
    words = weight_wording("encoder_self")
    said = describe(cell_of(key=2, masked=(2,)), Token(1, "a"), Token(2, "b"), words)
    assert said.startswith("“a” may not look at “b” in head 0 of layer 0 (masked). Inside: ")
    assert said.endswith("but the mask forbids this key: weight 0")


def test_mounts() -> None:
    def script() -> None:
        from transformer.analysis.reading import Selection
        from viz.components.cell_steps.cell_steps import CellSteps, cell_steps
        from viz.components.kit.browser import pack
        from viz.theme import LIGHT

        cell_steps(CellSteps(Selection("cross", 0, 0)).data(pack({}), LIGHT), "cell")

    app = AppTest.from_function(script).run()
    assert not app.exception
    (component,) = app.get("bidi_component")
    header, _ = unpack(component.proto.bytes)
    assert header["signs"] == {"positive": LIGHT.ink, "negative": LIGHT.contrast}
