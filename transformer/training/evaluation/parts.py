"""The parts of a translation recipe's evaluation, by the names that `--only` takes."""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

from transformer.checkpoint import Checkpoint
from transformer.training.data_folder import MissingData, need
from transformer.training.evaluation.anchors import evaluate_anchors
from transformer.training.evaluation.evidence import evaluate_evidence
from transformer.training.evaluation.heads import evaluate_alignment
from transformer.training.evaluation.long import evaluate_long
from transformer.training.evaluation.say import say
from transformer.training.evaluation.stage import SECOND, evaluate_stage
from transformer.training.evaluation.translations import METHODS, closeness, translations
from transformer.training.task import Evaluation, Scores
from transformer.training.translation import PAIRS, TESTS, read_pairs

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
    "one, both times 100, with 95 % bootstrap intervals over sentences. Omissions are words of the "
    "stage set's sources that cost no written word 0.15 nats when hidden."
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
