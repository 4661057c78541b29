"""Every word of the screens has a card, and the glossary is made from the same texts."""

import re
import xml.etree.ElementTree as ElementTree
from html.parser import HTMLParser
from pathlib import Path

import pytest

from transformer.analysis.reading import lenses
from transformer.decoding import decoding_methods
from transformer.decoding.method import Method
from transformer.discover import discover
from viz.formula import FormulaError, mathml
from viz.glossary import (
    DOCUMENT,
    cards,
    first_sentence,
    spellings_of,
    with_table,
    word_of,
    words,
)
from viz.words import HEADS, WORDS, Word

COMPONENTS = Path(__file__).parents[2] / "viz" / "components"
ASKED = {
    *("head", "layer", "query", "key", "value", "confidence", "entropy", "nats", "bits", "measure"),
    *("rollout", "flow", "row", "kl_divergence", "copying_score", "mask", "softmax", "cross"),
}
NO_QUANTITY = {"layer", "row", "measure"}
OWN = {"greedy", "forced"}
"""Quantities that everybody defines so: without a source."""


def test_a_card_of_a_picture_of_heads_leads_to_all_that_a_head_is_made_of() -> None:
    for component in HEADS:
        drawn = cards(component)
        for name in ("head", "query", "key", "value"):
            assert f'data-word="{name}"' in drawn, (component, name)


every_word = pytest.mark.parametrize("word", words().values(), ids=lambda word: word.name)


def test_every_metric_measure_and_method_has_a_card_and_so_has_each_word_that_was_asked_for() -> (
    None
):
    metrics = discover("transformer.analysis.metrics", "METRIC")
    own = WORDS
    assert {*metrics, *lenses(), *decoding_methods(), *own, *ASKED} == set(words())
    assert len(words()) == len(metrics) + len(lenses()) + len(decoding_methods()) + len(own)


@every_word
def test_a_card_says_what_it_is_in_one_sentence_with_formula_and_source(word: Word) -> None:
    assert word.title and word.sentence.endswith(".")
    assert 30 < len(word.sentence) < 180, "a card is read at a glance"
    assert bool(word.formula) == (word.name not in NO_QUANTITY)
    if word.name not in OWN | {"measure"}:
        assert re.search(r"\b(19|20)\d\d\b", word.source)


@every_word
def test_its_formula_is_mathml(word: Word) -> None:
    if word.formula:
        found = ElementTree.fromstring(mathml(word.formula))
        assert found.tag == "math" and "\\" not in "".join(found.itertext())


@every_word
def test_it_stands_in_components_that_there_are(word: Word) -> None:
    for name in word.stands_in:
        assert (COMPONENTS / name / "index.js").exists()


def test_a_word_of_a_page_stands_in_its_help_and_the_others_in_a_picture() -> None:
    pages = (COMPONENTS.parent / room for room in ("pages", "ui"))
    code = "".join(file.read_text() for room in pages for file in room.rglob("*.py"))
    named = re.findall(r"(?:help_of|\bwords=)\(([^)]*)\)", code)  # `words` of a Part: its help
    in_help = set(re.findall(r'"(\w+)"', " ".join(named)))
    placeless = {word.name for word in words().values() if not word.stands_in}
    assert placeless - in_help == set(decoding_methods())  # by the name that is chosen
    assert in_help <= set(words())


def test_layers_and_heads_count_from_0_is_said_where_they_are_explained() -> None:
    said = {word.name for word in words().values() if "count from 0" in word.sentence}
    assert said == {"head", "layer"}


def test_two_words_of_a_picture_are_not_spelled_alike() -> None:
    for component in {name for word in words().values() for name in word.stands_in}:
        found = [word for word in words().values() if component in word.stands_in]
        spelled = [text.lower() for word in found for text in spellings_of(word)]
        assert len(spelled) == len(set(spelled)), component


class _Outline(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_cards_are_html_that_closes_what_it_opens() -> None:
    outline = _Outline()
    outline.feed(cards("head_grid"))
    assert outline.open == []
    assert 'data-word="confidence"' in cards("head_grid")
    assert "data-word" not in cards("token_rows")


def test_the_glossary_is_made_from_the_words() -> None:
    text = DOCUMENT.read_text(encoding="utf-8")
    assert with_table(text) == text, "run `python -m viz.glossary`"


def test_the_first_sentence_ends_where_the_next_begins() -> None:
    assert first_sentence("Weights of 0.5 (Liang et al. 2006). More.").endswith("2006).")
    assert first_sentence("One.") == "One."


@pytest.mark.parametrize(
    ("formula", "elements"),
    [
        (r"\sum_i x_i", "<munder><mo>∑</mo><mi>i</mi></munder><msub><mi>x</mi><mi>i</mi></msub>"),
        (r"A^h_{ij}", "<msubsup><mi>A</mi><mrow><mi>i</mi><mi>j</mi></mrow><mi>h</mi></msubsup>"),
        (r"\sqrt{d}", "<msqrt><mi>d</mi></msqrt>"),
        (r"\text{a < b}", "<mtext>a &lt; b</mtext>"),
    ],
)
def test_formulas(formula: str, elements: str) -> None:
    assert mathml(formula) == f'<math display="block">{elements}</math>'


@pytest.mark.parametrize("formula", [r"\frac{a}", "{a", "a}", r"\integral x", "a_"])
def test_what_is_no_formula_is_refused(formula: str) -> None:
    with pytest.raises(FormulaError):
        mathml(formula)


@pytest.mark.parametrize("method", decoding_methods().values(), ids=lambda method: method.name)
def test_the_card_of_a_method_has_the_formula_of_its_options(method: Method) -> None:
    assert method.with_options({}) == method
    for option in method.options:
        if option.off is not None:
            word = word_of(method.with_options({option.name: option.most}))
            is_other = bool(option.formula or option.term)
            assert (word.formula != method.formula) == is_other
            assert mathml(word.formula) and bool(word.formula) == bool(method.formula)
            assert not is_other or option.source in word.source


def test_a_length_by_itself_is_no_gnmt_penalty() -> None:
    beam = decoding_methods()["beam"]
    plain = beam.with_options({"plain_length": 1})
    assert "6" in beam.formula and "6" not in plain.formula and "Wu" not in plain.source
    both = beam.with_options({"plain_length": 1, "coverage_penalty": 0.4})
    assert both.formula.startswith(plain.formula) and "Wu" in both.source
