"""Pieces are data: they show literally, and what is invisible gets a sign."""

import pytest

from transformer.tokenizer import Token
from viz.labels import figure_label, figure_text, label, literal


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
