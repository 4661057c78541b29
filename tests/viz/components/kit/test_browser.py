"""What all components send, and that their scripts leave pieces literal."""

from pathlib import Path

import pytest

from transformer.token import Token
from viz.components.kit.browser import envelope, palette, pieces
from viz.components.kit.pack import pack, unpack
from viz.theme import DARK, LIGHT

FOLDER = Path(__file__).parents[4] / "viz/components"


def test_an_envelope_keeps_its_payload_and_names_it() -> None:
    payload = pack({"a": 1})
    header, (inner,) = unpack(envelope(payload, LIGHT, selected=[1, 2]))
    assert inner.tobytes() == payload
    assert header["selected"] == [1, 2]
    assert header["palette"]["accent"] == LIGHT.accent
    again, _ = unpack(envelope(payload, DARK, selected=[0, 0]))
    other, _ = unpack(envelope(pack({"a": 2}), LIGHT))
    assert header["nonce"] == again["nonce"] != other["nonce"]


def test_palette_carries_the_attention_scale() -> None:
    assert palette(DARK)["scale"] == DARK.attention_scale


def test_pieces_are_literal() -> None:
    assert pieces([Token(4, "<b>"), Token(2, "</s>", special=True)]) == [("<b>", 0), ("</s>", 1)]


@pytest.mark.parametrize(
    "file", sorted(FOLDER.rglob("*.js")), ids=lambda file: str(file.relative_to(FOLDER))
)
def test_scripts_never_read_text_as_html(file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    for reader in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval("):
        assert reader not in text
