"""All words that are explained: those of viz/words.py, every metric, measure and decoding method.

The last three are defined where they are computed; their cards are made of what stands there.
`python -m viz.glossary` writes them into docs/glossary.md.
"""

import html
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from transformer.analysis.lenses.lens import Lens
from transformer.analysis.metrics.metric import Metric
from transformer.analysis.reading import lenses
from transformer.decoding import decoding_methods
from transformer.decoding.method import Method
from transformer.discover import discover
from viz.formula import mathml
from viz.words import HEADS, WORDS, Illustration, Word

DOCUMENT = Path(__file__).parents[1] / "docs" / "glossary.md"
_BEGIN, _END = "<!-- made by `python -m viz.glossary` -->\n", "<!-- end -->\n"
_SENTENCE = re.compile(r"(?<=\.) (?=[A-Z])")


@cache
def words() -> Mapping[str, Word]:
    """name -> word, each defined once."""
    return {**WORDS, **metric_words(), **lens_words(), **method_words()}


def metric_words() -> dict[str, Word]:
    """Return the words of all head metrics."""
    metrics = discover("transformer.analysis.metrics", "METRIC").values()
    return {
        each.name: word_of(each, "extremes", ("head_grid", "snapshot_player")) for each in metrics
    }


def lens_words() -> dict[str, Word]:
    """Return the words of all measures that a map can show."""
    places = tuple(name for name in HEADS if name != "decode_player")
    return {each.name: word_of(each, "row", places) for each in lenses().values()}


def method_words() -> dict[str, Word]:
    """Return the words of all decoding methods."""
    return {each.name: word_of(each) for each in decoding_methods().values()}


def word_of(
    of: Metric | Lens | Method, illustration: Illustration = "", stands_in: tuple[str, ...] = ()
) -> Word:
    """Return its word; of a method, with the formula that its options leave."""
    sentence = first_sentence(of.explain)
    return Word(of.name, sentence, of.formula, of.source, of.title, (), stands_in, illustration)


def first_sentence(text: str) -> str:
    """Up to the first full stop that ends a sentence.

    >>> first_sentence("It is so (Voita et al. 2019). More of it.")
    'It is so (Voita et al. 2019).'
    """
    return _SENTENCE.split(text, maxsplit=1)[0]


def cards(component: str) -> str:
    """The cards of the words in a component, in a <template>; kit/cards.js opens them."""
    standing = [word for word in words().values() if component in word.stands_in]
    return f'<template class="cards">{"".join(map(_card, standing))}</template>' if standing else ""


def _card(word: Word) -> str:
    spellings = html.escape("|".join(spellings_of(word)))
    formula = mathml(word.formula) if word.formula else ""
    source = f"<small>{html.escape(word.source)}</small>" if word.source else ""
    return (
        f'<div data-word="{word.name}" data-spellings="{spellings}" '
        f'data-illustration="{word.illustration}"><strong>{html.escape(word.title)}</strong>'
        f"<p>{html.escape(word.sentence)}</p>{formula}{source}</div>"
    )


def spellings_of(word: Word) -> tuple[str, ...]:
    """Return its spellings in texts: of several in one, the first of these is underlined."""
    return (word.title, *word.spellings)


def table() -> str:
    """All of them in Markdown, in the order of their titles."""
    rows = [
        f"| {word.title} | {word.sentence} | {_formula_and_source(word)} |"
        for word in sorted(words().values(), key=lambda each: each.title.lower())
    ]
    return "\n".join(["| word | meaning | formula, source |", "| --- | --- | --- |", *rows, ""])


def _formula_and_source(word: Word) -> str:
    formula = f"${word.formula}$" if word.formula else ""
    return "; ".join(filter(None, (formula, word.source)))


def with_table(document: str) -> str:
    """A document with the table between its two marks as it is now."""
    before, rest = document.split(_BEGIN)
    return f"{before}{_BEGIN}\n{table()}\n{_END}{rest.split(_END)[1]}"


if __name__ == "__main__":
    DOCUMENT.write_text(with_table(DOCUMENT.read_text(encoding="utf-8")), encoding="utf-8")
