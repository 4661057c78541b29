"""Word alignments made by people: pairs of sentences, their words and the links between them."""

from collections.abc import Sequence
from pathlib import Path

from transformer.analysis.alignment import AlignedPair, Link
from transformer.training.data_folder import need
from transformer.training.evaluation.stage import stage_links, stage_pairs
from transformer.training.task import TrainingError, read_lines
from transformer.words import text_words

RWTH, BICICI = "gold_alignment_de_en_rwth", "gold_alignment_de_en_bicici"


def aligned(
    source: tuple[str, Sequence[str]],
    target: tuple[str, Sequence[str]],
    sure: Sequence[Link],
    possible: Sequence[Link] = (),
) -> AlignedPair:
    """source, target: the text and its words. Raises TrainingError for a link to no word."""
    links = [*sure, *possible]
    if any(not (0 <= i < len(source[1]) and 0 <= j < len(target[1])) for i, j in links):
        raise TrainingError(f"a link leads to no word of “{source[0]}”, “{target[0]}”.")
    words = tuple(source[1]), tuple(target[1])
    return AlignedPair(source[0], target[0], *words, frozenset(sure), frozenset(links))


def stage_alignments() -> list[AlignedPair]:
    """The sentences of the stage set that were aligned by hand."""
    return [
        aligned((source, text_words(source)), (target, text_words(target)), links)
        for (source, target), links in zip(stage_pairs(), stage_links(), strict=True)
        if links
    ]


def rwth_alignments(data: Path | None) -> list[AlignedPair]:
    """The 508 sentences of RWTH Aachen (Vilar et al. 2006). Raises MissingData.

    A line of links is "de-en" for a sure one and "depen" for a possible one, counted from 1.
    """
    sentences = _sentences(data, RWTH, "test.uc.en", "test.uc.de")
    file = need(data, RWTH, "alignment.talp")
    lines = [line.split() for line in read_lines(file.parent, file.name)]
    if len(lines) != len(sentences):
        raise TrainingError(f"{file} has {len(lines)} lines for {len(sentences)} sentences.")
    return [
        aligned(
            *sentence,
            sure=[_turned(link, "-") for link in line if "-" in link],
            possible=[_turned(link, "p") for link in line if "p" in link],
        )
        for sentence, line in zip(sentences, lines, strict=True)
    ]


def _turned(link: str, between: str) -> Link:
    german, _, english = link.partition(between)
    return int(english) - 1, int(german) - 1


def bicici_alignments(data: Path | None) -> list[AlignedPair]:
    """The 100 lower-cased sentences of Bicici (2011). Raises MissingData.

    A line is "sentence de en S": sentences are counted from 1, words from 0; all links are sure.
    One of the 1,233 published links leads past the end of its sentence and is left out.
    """
    sentences = _sentences(data, BICICI, "test.en", "test.de")
    file = need(data, BICICI, "de-en.ref.wa")
    links: list[list[Link]] = [[] for _ in sentences]
    for line in read_lines(file.parent, file.name):
        number, german, english = map(int, line.split()[:3])
        if english < len(sentences[number - 1][0][1]):
            links[number - 1].append((english, german))
    return [aligned(*sentence, sure=of) for sentence, of in zip(sentences, links, strict=True)]


def _sentences(
    data: Path | None, room: str, english: str, german: str
) -> list[tuple[tuple[str, list[str]], tuple[str, list[str]]]]:
    """Both sides of every pair: the text as a person writes it, and the words of the set."""
    files = need(data, room, english), need(data, room, german)
    sides = [
        [line.removeprefix("\ufeff").split() for line in read_lines(file.parent, file.name)]
        for file in files
    ]
    if len(sides[0]) != len(sides[1]):
        raise TrainingError(f"{files[0]} and {files[1]} differ in their number of lines.")
    return [((as_text(en), en), (as_text(de), de)) for en, de in zip(*sides, strict=True)]


def as_text(words: Sequence[str]) -> str:
    """Words as a person writes them: spaces between them, but none before a closing sign.

    >>> as_text(["That", "is", "(", "not", ")", "Tom", "'s", "."])
    "That is (not) Tom's."
    """
    text = ""
    for before, word in zip(("(", *words), words, strict=False):
        glued = before == "(" or word in {*".,;:!?)%"} or word.startswith("'")
        text += word if glued else f" {word}"
    return text
