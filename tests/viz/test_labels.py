"""Pieces are data: they show literally, and what is invisible gets a sign."""

import math

import pytest
import torch

from transformer.refusal import visible
from transformer.token import Token
from viz.labels import (
    figure_label,
    figure_text,
    in_word,
    in_words,
    label,
    literal,
    number,
    percent,
    signed,
)


@pytest.mark.parametrize(
    ("piece", "shown"),
    [
        ("▁The", "▁The"),
        ("<b>", "<b>"),
        (" ", "␣"),
        ("\n", "⏎"),
        ("a\tb", "a⇥b"),
        ("", "∅"),
        ("\u202e", "U+202E"),
        ("<0xE2>", "<0xE2>"),
        ("$x$", "$x$"),
    ],
)
def test_a_piece_shows_literally(piece: str, shown: str) -> None:
    assert label(Token(5, piece)) == shown


def test_a_figure_reads_html_so_labels_are_escaped() -> None:
    assert figure_label(Token(5, "<b>&"), "#777777") == "&lt;b&gt;&amp;"
    assert figure_label(Token(5, '"'), "#777777") == '"'


def test_special_tokens_and_space_marks_are_dimmed() -> None:
    dim = '<span style="color:#777777">'
    assert figure_label(Token(2, "</s>", special=True), "#777777") == f"{dim}&lt;/s&gt;</span>"
    assert figure_label(Token(9, "▁it"), "#777777") == f"{dim}▁</span>it"


def test_the_name_of_a_class_keeps_its_spaces_and_shows_literally() -> None:
    assert figure_text("very <b>good") == "very &lt;b&gt;good"
    assert figure_text("a\u202eb\n") == "aU+202Eb⏎"


def test_words_in_markdown_are_one_line_without_signs() -> None:
    assert literal("**a** $x$") == r"\*\*a\*\* \$x\$"
    assert literal("a\n\n    b") == "a⏎⏎\u00a0\u00a0\u00a0\u00a0b"
    assert literal("    a") == "\u00a0\u00a0\u00a0\u00a0a"
    assert literal("&lt;\u202e") == r"\&lt;U+202E"
    assert literal("https://a") == "https\\:\u2060//a"
    assert literal("a:b: ") + literal("c:") == "a\\:\u2060b: c\\:"
    assert literal("1. a") == r"1\. a"
    assert literal(" # a") == r" \# a"
    assert literal("> </s>") == "\\> <\u2060/s>"
    assert literal("_a_b_") == r"\_a_b\_"
    assert literal("می\u200cخواهم") == "می\u200cخواهم"


@pytest.mark.parametrize(
    "text", ["Which one? The first (of 5): 3.5 · d_head - 2 + 1, config.json!?", "√d_head = 8."]
)
def test_what_means_nothing_in_markdown_is_left(text: str) -> None:
    assert literal(text) == text


@pytest.mark.parametrize(
    ("value", "digits", "form", "text"),
    [
        (-1.256, 2, "f", "−1.26"),
        (3, 0, "f", "3"),
        (-0.0, 2, "f", "0.00"),
        (-0.004, 2, "f", "0.00"),
        (-0.004, 2, "+f", "0.00"),
        (0.5, 1, "+f", "+0.5"),
        (-12345.6, 0, ",f", "−12,346"),
        (1e300, 2, "f", "1.00e+300"),
        (-1e300, 1, "+f", "−1.0e+300"),
        (5e-324, 3, "f", "0.000"),
        (-5e-324, 3, "g", "−4.94e−324"),
        (-0.0, 3, "g", "0"),
        (1.25e-7, 0, "e", "1e−07"),
        (torch.tensor(-2.5), 1, "f", "−2.5"),
    ],
)
def test_a_number_has_a_true_minus(value: float, digits: int, form: str, text: str) -> None:
    assert number(value, digits, form) == text


@pytest.mark.parametrize("form", ["f", "+f", ",f", "g", "e"])
def test_what_no_digits_write_has_a_name(form: str) -> None:
    texts = [number(value, 2, form) for value in (math.nan, math.inf, -math.inf)]
    assert len(set(texts)) == 3
    assert not any(set(text) & set("0123456789-+") for text in texts)
    assert texts[2] == f"−{texts[1]}"
    assert [signed(math.nan), percent(math.nan), percent(-math.inf)] == [*texts[:1] * 2, texts[2]]


@pytest.mark.parametrize(
    ("share", "decimals", "text"),
    [
        (0.9000125, None, "90.0 %"),
        (-0.0000125, None, "−0.00125 %"),
        (1e-9, None, "< 0.0001 %"),
        (-1e-9, None, "> −0.0001 %"),
        (-0.0, None, "0 %"),
        (-0.0, 1, "0.0 %"),
        (12.0, None, "1200.0 %"),
        (-0.002, 0, "0 %"),
        (0.01234, 2, "1.23 %"),
    ],
)
def test_a_share_is_in_per_cent(share: float, decimals: int | None, text: str) -> None:
    assert percent(share, decimals) == text


@pytest.mark.parametrize(
    ("piece", "expected"),
    [
        *((text, text) for text in ("می\u200cخواهم", "क्\u200dष", "👩\u200d👧", "❤\ufe0f\u200d🔥")),
        ("🏴\U000e0067\U000e0062\U000e007f", "🏴\U000e0067\U000e0062\U000e007f"),
        ("\u200cخواهم", "U+200Cخواهم"),
        ("می\u200d", "میU+200D"),
        ("a\u200db", "aU+200Db"),
        ("ab\U000e0067\U000e007f", "abU+E0067U+E007F"),
        ("a\u202eb", "aU+202Eb"),
    ],
)
def test_joiners_stay_where_they_join(piece: str, expected: str) -> None:
    assert label(Token(9, piece)) == visible(piece) == figure_text(piece) == expected


def test_one_piece_is_named_as_all_of_its_text_are() -> None:
    pieces = ("▁Two", "▁", "cher", "ries", "<0xC3>", "<0xBC>", ".", "</s>")
    text = [Token(i, piece, special=piece == "</s>") for i, piece in enumerate(pieces)]
    names = in_words(text)
    assert [in_word(text, position) for position in range(len(text))] == names
    assert names[0] == "Two" and names[2].startswith("cher in cherries")
