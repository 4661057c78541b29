"""Scores of a translation checkpoint by length: long sentences, and Tatoeba's by their words."""

from collections.abc import Sequence
from pathlib import Path

from transformer.checkpoint import Checkpoint
from transformer.training.data_folder import need
from transformer.training.evaluation.faults import loop
from transformer.training.evaluation.say import say
from transformer.training.evaluation.translations import (
    METHODS,
    closeness,
    length_ratios,
    translations,
)
from transformer.training.task import Scores
from transformer.training.translation import PAIRS, TESTS, read_pairs

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
