"""What all components send, and that their scripts leave pieces literal."""

from dataclasses import replace
from pathlib import Path

from transformer.token import Token
from transformer.words import word_groups
from viz.components.kit.browser import envelope, pack, palette, pieces, pieces_of_words, unpack
from viz.labels import word_text
from viz.theme import DARK, LIGHT

ROOT = Path(__file__).parents[4]


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


def test_a_row_of_words_spells_each_word_as_pictures_name_it() -> None:
    """Bytes too: a part that is not seen there is empty, or a space."""
    pieces = ("▁na", "<0xC3>", "<0xAF>", "ve", "▁", "<0xC5>", "<0x81>", "<0xE2>", "▁b", "<0x3E>")
    tokens = [Token(i, piece) for i, piece in enumerate((*pieces, "</s>"), 20)]
    tokens[-1] = replace(tokens[-1], special=True)
    row = pieces_of_words(tokens, words=True)
    assert [label for label, _, _ in row][:4] == ["na", "", "ï", "ve"]
    for group in word_groups(tokens):
        seen = [row[i][0] for i in group if row[i][2] != 2]
        assert "".join(seen) == word_text([tokens[i] for i in group])
    assert [label for label, _, _ in pieces_of_words(tokens)][1:3] == ["<0xC3>", "<0xAF>"]


def test_scripts_never_read_text_as_html() -> None:
    """And they fit into a page of a notebook, where a comment or a tag would end them."""
    files = sorted((ROOT / "viz").rglob("*.js"))
    assert len(files) > 100
    readers = ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(")
    for file in files:
        text = file.read_text(encoding="utf-8")
        assert not [each for each in (*readers, "</script", "<!--") if each in text], file
