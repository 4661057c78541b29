"""The stage set, every lens against what hiding costs on it, and the parts of an evaluation."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from tqdm import tqdm

from transformer.analysis.corpus_sweep import caution
from transformer.causes.evidence import evidence
from transformer.causes.ladder import Agreement, yardstick
from transformer.checkpoint import Checkpoint
from transformer.inputs import InputError
from transformer.refusal import visible
from transformer.training.evaluation.translations import (
    METHODS,
    WORD_LIST,
    closeness,
    german_words,
    invented_words,
    is_lost_half,
    listed_words,
    loop,
    say,
    spoken_words,
    translations,
)
from transformer.training.task import Scores, read_lines

# The stage set: English sentences as an audience calls them out, each with a German translation.
#
# `stage/en-de.tsv` holds a sentence, a tab and its translation per line, written for this
# project: questions, pronouns, idioms, science, travel, two sentences at once, British words,
# names, numbers, garden paths. Line by line beside it, `stage/en-de.pharaoh` holds the word
# alignments that were made by hand: "0-0 1-2" links English word 0 to German word 0; words and
# signs are counted from 0 by `transformer.words.text_words`, every link is a sure one, and an
# empty line says that the sentence was not aligned. Nothing of it may be trained on.
#
# `stage/en-de-2.tsv` holds sentences like them, by somebody who had seen neither the stage set
# nor what en-de is trained on: whoever chose training sentences had looked at faults in the stage
# set.

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


# Every lens against what hiding each source word costs, and lost words, on the stage set.

TITLE, N_SENTENCES = "Evidence", 50


def evaluate_evidence(checkpoint: Checkpoint, data: Path | None) -> Scores:
    """Each lens's rank correlation with hide and rate of first words, with their 95 % intervals.

    Both times 100, of sentences that lie evenly in the stage set. A lens that cannot be compared
    is left out, and that is said, as are texts that the model cannot read. Then the words that are
    lost in the whole stage set, each said with its sentence.
    """
    texts = [source for source, _ in stage_pairs()]
    some = texts[:: max(1, len(texts) // N_SENTENCES)][:N_SENTENCES]
    bar = tqdm(some, desc=TITLE, unit="sentence", dynamic_ncols=True)
    result = yardstick(checkpoint, bar)
    for what, reason in result.left_out.items():
        say(f"{TITLE}: {what}: left out: {reason}")
    whole = next(reversed(result.agreements.values()))
    if warning := caution(*(each.n_sentences for each in result.agreements.values())):
        say(f"{TITLE}: {warning}")
    scores: Scores = {"sentences": whole.n_sentences, "words": whole.n_words}
    for name, agreement in result.agreements.items():
        scores |= {f"{name}, {what}": value for what, value in _rows(agreement).items()}
    scores |= _lost(checkpoint, texts)
    return {f"{TITLE}, {what}": value for what, value in scores.items()}


def _lost(checkpoint: Checkpoint, texts: Sequence[str]) -> Scores:
    """Count the words of the texts that greedy decoding loses (`transformer/analysis/lost.py`)."""
    n_read, n_lost, n_sentences = 0, 0, 0
    for text in tqdm(texts, desc="Lost words", unit="sentence", dynamic_ncols=True):
        try:
            result = evidence(checkpoint, text)
        except InputError as error:
            say(f"{TITLE}, lost words: {visible(text)}: left out: {error}")
            continue
        if result.not_judged:
            say(f"{TITLE}: {result.not_judged}")
            return {}
        if result.lost:
            spans, target = (each.text for each in result.lost), " ".join(result.target_words)
            say(f"{TITLE}, lost words: {', '.join(spans)}: {text} -> {target}")
        n_read += 1
        n_lost += len(result.lost_words)
        n_sentences += bool(result.lost)
    hundreds = n_read / 100
    return {
        "lost words per hundred sentences": n_lost / hundreds,
        "sentences that lose words, of a hundred": n_sentences / hundreds,
    }


def _rows(agreement: Agreement) -> Scores:
    """The two means, and where they lie."""
    rows: Scores = {}
    for what, estimate in (
        ("rank correlation with hide", agreement.rank),
        ("first word needed", agreement.first),
    ):
        rows[what] = 100 * estimate.mean
        if estimate.low is not None and estimate.high is not None:
            rows |= {f"{what}, from": 100 * estimate.low, f"{what}, to": 100 * estimate.high}
    return rows
