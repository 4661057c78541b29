"""Every lens against what hiding each source word costs, and omissions, on the stage set."""

from collections.abc import Sequence
from pathlib import Path

from tqdm import tqdm

from transformer.analysis.bootstrap import caution
from transformer.causes.evidence import evidence
from transformer.causes.yardstick import Agreement, yardstick
from transformer.checkpoint import Checkpoint
from transformer.inputs import InputError
from transformer.training.evaluation.say import say
from transformer.training.evaluation.stage import stage_pairs
from transformer.training.task import Scores
from transformer.visible import visible
from transformer.words import text_words

TITLE, N_SENTENCES = "Evidence", 50


def evaluate_evidence(checkpoint: Checkpoint, data: Path | None) -> Scores:
    """Each lens's rank correlation with hide and rate of first words, with their 95 % intervals.

    Both times 100, of sentences that lie evenly in the stage set. A lens that cannot be compared
    is left out, and that is said, as are texts that the model cannot read. Then the omissions of
    the whole stage set, each of which is said with its sentence.
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
    scores |= _omissions(checkpoint, texts)
    return {f"{TITLE}, {what}": value for what, value in scores.items()}


def _omissions(checkpoint: Checkpoint, texts: Sequence[str]) -> Scores:
    """Count the words of the texts, and those of them that no written word needs."""
    n_words, n_omitted, n_sentences = 0, 0, 0
    for text in tqdm(texts, desc="Omissions", unit="sentence", dynamic_ncols=True):
        try:
            result = evidence(checkpoint, text)
        except InputError as error:
            say(f"{TITLE}, omissions: {visible(text)}: left out: {error}")
            continue
        words = [result.source_words[i] for i in result.omissions]
        if words:
            target = " ".join(result.target_words)
            say(f"{TITLE}, omissions: {', '.join(words)}: {text} -> {target}")
        n_words += len(text_words(text))
        n_omitted += len(words)
        n_sentences += bool(words)
    return {
        "words of the stage set": n_words,
        "omissions": n_omitted,
        "sentences with an omission": n_sentences,
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
