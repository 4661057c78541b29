"""The stage set: English sentences as an audience calls them out, each with a German translation.

`stage/en-de.tsv` holds a sentence, a tab and its translation per line, written for this project:
questions, pronouns, idioms, science, travel, two sentences at once, British words, names, numbers,
garden paths. Line by line beside it, `stage/en-de.pharaoh` holds the word alignments that were made
by hand: "0-0 1-2" links English word 0 to German word 0; words and signs are counted from 0 by
`transformer.words.text_words`, every link is a sure one, and an empty line says that the sentence
was not aligned. Nothing of it may be trained on.

`stage/en-de-2.tsv` holds sentences like them, by somebody who had seen neither the stage set nor
what en-de is trained on: whoever chose training sentences had looked at faults in the stage set.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

from transformer.checkpoint import Checkpoint
from transformer.training.evaluation.faults import (
    invented_words,
    is_lost_half,
    loop,
    spoken_words,
)
from transformer.training.evaluation.german_words import (
    WORD_LIST,
    german_words,
    listed_words,
)
from transformer.training.evaluation.say import say
from transformer.training.evaluation.translations import METHODS, closeness, translations
from transformer.training.task import Scores, read_lines

FOLDER = Path(__file__).parent / "stage"
PAIRS, SECOND, LINKS = "en-de.tsv", "en-de-2.tsv", "en-de.pharaoh"


def stage_pairs(file: str = PAIRS) -> list[tuple[str, str]]:
    """Every sentence of a file with its translation."""
    lines = (line.split("\t") for line in read_lines(FOLDER, file))
    return [(source, target) for source, target in lines]


def stage_links() -> list[list[tuple[int, int]]]:
    """The links of every sentence, (English word, German word); none where it is not aligned."""
    return [list(map(_link, line.split())) for line in read_lines(FOLDER, LINKS)]


def _link(text: str) -> tuple[int, int]:
    source, _, target = text.partition("-")
    return int(source), int(target)


def evaluate_stage(
    checkpoint: Checkpoint, data: Path | None, name: str = "Stage set", file: str = PAIRS
) -> Scores:
    """BLEU and chrF of a stage set, its words, and the faults among its translations.

    Invented words are told by the data folder's German texts and by Debian's word list; without the
    texts they are left out, and that is said, as it is where the list is missing. Each fault is
    said with its sentence.
    """
    pairs, german = stage_pairs(file), german_words(data) if data else set()
    if not german:
        where = f"no German text in {data}" if data else "no --data DIR with German texts"
        say(f"{name}: invented words are left out: there is {where}.")
    elif words := listed_words():
        german |= words
    else:
        say(f"{name}: {WORD_LIST} (Debian's wngerman) is not there: more words count as invented.")
    result: Scores = {}
    for method, label in METHODS.items():
        title = f"{name}, {label}"
        outputs = translations(checkpoint, [source for source, _ in pairs], method, title)
        scores = closeness(outputs, [target for _, target in pairs])
        scores |= _faults(pairs, outputs, german, title)
        result |= {f"{title}, {what}": value for what, value in scores.items()}
    return result


def _faults(
    pairs: Sequence[tuple[str, str]], outputs: Sequence[str], german: set[str], title: str
) -> Scores:
    """Count the words, those of them that are invented, and the outputs that are broken."""
    scores: Scores = {"words": sum(len(spoken_words(output)) for output in outputs)}
    kinds = ("invented words",) * bool(german) + ("lost halves", "loops")
    scores |= dict.fromkeys(kinds, 0)
    for (source, target), output in zip(pairs, outputs, strict=True):
        for kind, what in _faults_of(source, target, output, german):
            scores[kind] += 1
            say(f"{title}, {kind}: {what}{source} -> {output}")
    return scores


def _faults_of(
    source: str, target: str, output: str, german: set[str]
) -> Iterator[tuple[str, str]]:
    """(kind, what it is): one for each fault."""
    if german:
        for word in invented_words(output, f"{source} {target}", german):
            yield "invented words", f"“{word}” in "
    if is_lost_half(output, target):
        yield "lost halves", ""
    if repeated := loop(output, source):
        yield "loops", f"“{repeated}” in "
