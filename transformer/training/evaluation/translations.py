"""Sentences translated, and how close the translations are to references."""

from collections.abc import Sequence

from tqdm import tqdm

from transformer.checkpoint import Checkpoint
from transformer.decoding import InputError, decode
from transformer.extras import require
from transformer.training.evaluation.say import say
from transformer.training.task import Scores

METHODS = {"greedy": "greedy", "beam": "beam 4"}
"""Decoding method -> what its rows are called."""


def translations(
    checkpoint: Checkpoint, sources: Sequence[str], method: str, title: str | None = None
) -> list[str]:
    """Each source's translation; empty, and said, where the model refuses to read the source.

    title: of a progress bar; None draws none. Raises NotInstalled where they could not be scored.
    """
    require("scores")  # not after the minutes that this takes
    bar = tqdm(sources, desc=title, disable=title is None, unit="sentence", dynamic_ncols=True)
    return [_translation(checkpoint, source, method) for source in bar]


def _translation(checkpoint: Checkpoint, source: str, method: str) -> str:
    try:
        return decode(checkpoint, source, method=method).text
    except InputError as error:
        say(f"counted as an empty translation: {error}")
        return ""


def closeness(outputs: Sequence[str], references: Sequence[str]) -> Scores:
    """BLEU and chrF of one reference each (sacrebleu's defaults: cased, 13a)."""
    require("scores")
    import sacrebleu

    return {
        "BLEU": sacrebleu.corpus_bleu(outputs, [references]).score,
        "chrF": sacrebleu.corpus_chrf(outputs, [references]).score,
    }


def length_ratios(outputs: Sequence[str], references: Sequence[str]) -> Scores:
    """Lengths of the outputs over those of the references, in BLEU's tokens and in characters.

    The first is that of BLEU's brevity penalty (Papineni et al. 2002, section 2.2.2).
    """
    require("scores")
    import sacrebleu

    bleu = sacrebleu.corpus_bleu(outputs, [references])
    n_written, n_wanted = (sum(map(len, each)) for each in (outputs, references))
    return {
        "length ratio, tokens": bleu.sys_len / bleu.ref_len,
        "length ratio, characters": n_written / n_wanted,
    }
