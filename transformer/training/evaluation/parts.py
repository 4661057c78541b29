"""The parts of a translation recipe's evaluation, by the names that `--only` takes; scores by
length.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

from transformer.checkpoint import Checkpoint
from transformer.training.evaluation.heads import evaluate_alignment, evaluate_anchors
from transformer.training.evaluation.stage import SECOND, evaluate_evidence, evaluate_stage
from transformer.training.evaluation.translations import (
    METHODS,
    closeness,
    length_ratios,
    loop,
    say,
    translations,
)
from transformer.training.task import Evaluation, Scores
from transformer.training.translation import PAIRS, TESTS, MissingData, need, read_pairs

# Scores of a translation checkpoint by length: long sentences, and Tatoeba's by their words.

LONG = "flores_long_en_de", "test.tsv"
TATOEBA = "Tatoeba test"
ROWS = {"up to 6": (1, 6), "7 to 10": (7, 10), "11 to 15": (11, 15), "over 15": (16, 10**6)}
"""The name of a row -> the fewest and the most words, split at spaces, of its sources."""


def evaluate_long(checkpoint: Checkpoint, data: Path | None) -> Scores:
    """Scores of both, with every method. Raises MissingData."""
    long, tatoeba = read_pairs(need(data, *LONG)), read_pairs(need(data, PAIRS, TESTS[TATOEBA]))
    result: Scores = {}
    for method, label in METHODS.items():
        title = f"Long sentences, {label}"
        outputs = translations(checkpoint, [row[0] for row in long], method, title)
        scores = _of_long(long, outputs, title)
        result |= {f"{title}, {what}": value for what, value in scores.items()}
        title = f"{TATOEBA} by length, {label}"
        outputs = translations(checkpoint, [row[0] for row in tatoeba], method, title)
        for name, scores in by_length(tatoeba, outputs).items():
            result |= {f"{title}, {name} words, {what}": value for what, value in scores.items()}
    return result


def _of_long(rows: Sequence[Sequence[str]], outputs: Sequence[str], title: str) -> Scores:
    """BLEU, chrF, length ratios, and how many outputs repeat themselves."""
    references, n_loops = [row[1] for row in rows], 0
    for row, output in zip(rows, outputs, strict=True):
        if repeated := loop(output, row[0]):
            n_loops += 1
            say(f"{title}, loops: “{repeated}” in {row[0]} -> {output}")
    ratios = length_ratios(outputs, references)
    return {**closeness(outputs, references), **ratios, "loops": n_loops}


def by_length(rows: Sequence[Sequence[str]], outputs: Sequence[str]) -> dict[str, Scores]:
    """Sentences and BLEU of each of ROWS that has some."""
    result: dict[str, Scores] = {}
    for name, (least, most) in ROWS.items():
        pairs = [
            (output, row[1])
            for row, output in zip(rows, outputs, strict=True)
            if least <= len(row[0].split()) <= most
        ]
        if pairs:
            hypotheses, references = zip(*pairs, strict=True)
            result[name] = {
                "sentences": len(pairs),
                "BLEU": closeness(hypotheses, references)["BLEU"],
            }
    return result


# The parts of a translation recipe's evaluation, by the names that `--only` takes.

NEWS = "newstest_en_de", "newstest2014.tsv"
SCORED = (
    "BLEU and chrF by sacrebleu's defaults, against each sentence's first reference; the stage "
    "sets are in `transformer/training/evaluation/stage`, the second one by somebody who had seen "
    "neither the first nor the training data. Invented words are those that neither the "
    "data's German texts nor Debian's German word list (wngerman) nor the source nor the reference "
    "holds; lost halves are shorter than half of the reference; loops repeat a run of characters. "
    "Lengths of translations are compared in characters, those of sources are in words. "
    "AER is the alignment error rate of cross-attention in percent, 0 being best, each head and "
    "layer being chosen on the set that it is scored on. From the literature, not measured here: "
    "fast_align reaches 27.0 on the RWTH set with other preprocessing (README of "
    "neulab/awesome-align). Evidence is how well a lens of cross-attention (the last layer, the "
    "mean of its heads) orders the source's words by what hiding each costs, on 50 sentences of "
    "the stage set: Spearman's correlation, and how often its first word is the most expensive "
    "one, both times 100, with 95 % bootstrap intervals over sentences. Lost words are those of "
    "the stage set's sources without a trace in what greedy decoding writes."
)


def evaluate(checkpoint: Checkpoint, data: Path | None) -> Scores:
    """All parts; one whose files are missing is left out, and that is said."""
    result: Scores = {}
    for name, part in PARTS.items():
        try:
            result |= part(checkpoint, data)
        except MissingData as error:
            say(f"{name}: left out: {error}")
    return result


def _test(
    title: str,
    room: str,
    file: str,
    methods: Sequence[str],
    checkpoint: Checkpoint,
    data: Path | None,
) -> Scores:
    """BLEU and chrF of one test set. Raises MissingData."""
    rows = read_pairs(need(data, room, file))
    result: Scores = {}
    for method in methods:
        name = f"{title}, {METHODS[method]}"
        outputs = translations(checkpoint, [row[0] for row in rows], method, name)
        scores = closeness(outputs, [row[1] for row in rows])
        result |= {f"{name}, {metric}": value for metric, value in scores.items()}
    return result


def _of(title: str) -> Evaluation:
    return partial(_test, title, PAIRS, TESTS[title], tuple(METHODS))


PARTS: Mapping[str, Evaluation] = {
    "tatoeba": _of("Tatoeba test"),
    "multi30k": _of("Multi30k test2016"),
    "news": partial(_test, "newstest2014", *NEWS, ("greedy",)),
    "stage": evaluate_stage,
    "stage-2": partial(evaluate_stage, name="Second stage set", file=SECOND),
    "long": evaluate_long,
    "alignment": evaluate_alignment,
    "anchors": evaluate_anchors,
    "evidence": evaluate_evidence,
}
"""Name -> (checkpoint, data folder or None) -> scores."""
