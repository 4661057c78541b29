"""Tables in a notebook are those of the app, with the numbers of the values that they are given."""

import re

import pytest

from transformer import decode, evidence, load_checkpoint, survey
from transformer.causes import Evidence
from transformer.checkpoint import Checkpoint
from transformer.inputs import InputError
from viz import heads_table, search_tree, word_card

TEXT = "The bank on the river was full of flowers."


@pytest.fixture(scope="module")
def checkpoint() -> Checkpoint:
    return load_checkpoint("checkpoints/en-de-1", "cpu")


@pytest.fixture(scope="module")
def found(checkpoint: Checkpoint) -> Evidence:
    return evidence(checkpoint, TEXT)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_card_has_the_costs_of_its_word(found: Evidence, theme: str) -> None:
    page = word_card(found, "dem", theme=theme).html
    row = [word.strip() for word in found.target_words].index("dem")
    assert f"{float(found.hidden[row].max()):.2f}" in page
    assert "river" in page and "http" not in re.sub(r'http-equiv="[^"]*"', "", page)


def test_a_word_by_its_number_is_the_word_by_its_text(found: Evidence) -> None:
    words = [word.strip() for word in found.target_words]
    assert word_card(found, words.index("dem")) == word_card(found, "dem")


@pytest.mark.parametrize("word", ["Haus", 99, -1])
def test_a_word_that_is_not_written_is_refused(found: Evidence, word: int | str) -> None:
    with pytest.raises(InputError, match="No written word"):
        word_card(found, word)


def test_every_head_of_a_survey_has_a_row(checkpoint: Checkpoint) -> None:
    page = heads_table(survey(checkpoint, [TEXT, "It rains."]), theme="light").html
    assert page.count("<tr") == 2 + 72  # the heads of the columns, and what they mean
    assert "Cross L2 H3" in page


def test_a_theme_that_there_is_not_is_refused(found: Evidence) -> None:
    with pytest.raises(ValueError, match="auto, light, dark"):
        word_card(found, theme="blue")  # type: ignore[arg-type]


def test_a_tree_is_a_page_of_its_own(checkpoint: Checkpoint) -> None:
    shown = search_tree(decode(checkpoint, "It rains.", method="beam"))
    assert "<iframe" in shown._repr_html_()
    assert "search_tree" in shown.html
