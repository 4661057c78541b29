"""Finished hypotheses ranked anew, by what of the source they leave out.

The coverage penalty (Wu et al. 2016, section 7) is of what no written word looks at; lost words are
what leaves no trace in what is written (`transformer/analysis/lost.py`).
"""

from collections.abc import Sequence
from dataclasses import replace

import torch
from torch import Tensor

from transformer.analysis.lost import function_words, losses
from transformer.checkpoint import Checkpoint
from transformer.decoding.course import Trail
from transformer.decoding.method import FLAGS, Hypothesis, Option, OptionError
from transformer.decoding.shared_batch import OnStep
from transformer.edits.edit import Edit
from transformer.recording.ours import record
from transformer.token import Token

COVERAGE = Option(
    *("coverage_penalty", "Coverage penalty", 0.0, 0.0, 2.0),
    explain="Higher favours texts that look at all of the source.",
    widest=(0.0, 1e4),
    off=0.0,
    term=r" + \beta \sum_s \log \min(1, \sum_t A_{ts})",
    source="Wu et al. 2016, section 7",
)
FEWEST_LOST = Option(
    *("fewest_lost", "Prefer what loses nothing", 0, 0, 1),
    spellings=FLAGS,
    explain="1: the finished text that loses the fewest words of the source comes first.",
    off=0,
)
"""It promises little. Of 32 outputs of `en-de` by a beam of 4 that had lost words, 13 lost none
once the fewest lost words came first among 8 hypotheses, and 9 when 8 were followed and the score
alone chose: mostly no hypothesis says it all. It changed 9 of 60 other outputs, by 0.1 of chrF,
where a coverage penalty changed 45 and lost 0.7."""
LEAST = 1e-10
"""A weight of 0 counts as this, so that a mask makes no score infinite."""


def coverage(weights: Tensor, penalty: float) -> float:
    """penalty · Σ_s log min(1, Σ_t weights[t, s]); weights: [T, S], rows sum to 1.

    >>> round(coverage(torch.tensor([[0.7, 0.2, 0.1], [0.1, 0.8, 0.1]]), 0.2), 6)
    -0.366516
    """
    received = weights.double().sum(0).clamp(LEAST, 1.0)
    return penalty * float(received.log().sum())


def covered(
    checkpoint: Checkpoint,
    text: str,
    edits: Sequence[Edit],
    hypotheses: Sequence[Hypothesis],
    penalty: float,
    trail: Trail,
    on_step: OnStep | None = None,
) -> list[Hypothesis]:
    """Rank finished hypotheses anew, with the coverage penalty added to their scores.

    The weights are those of cross-attention, a mean over all its layers and heads. They are known
    once a text is written, so the penalty ranks what the search found; it leads no search. on_step:
    called before the pass of each hypothesis; what it raises ends them. Raises OptionError for a
    model without cross-attention.
    """
    ranked = []
    for each in hypotheses:
        if on_step is not None:
            on_step()
        target = tuple(map(checkpoint.tokenizer.token, each.ids))
        attention = record(checkpoint, text, target, edits).attentions.get("cross")
        if attention is None:
            raise OptionError(f"{COVERAGE.name} needs cross-attention: this model has none.")
        layers = [attention.weights(layer).mean(0) for layer in range(attention.n_layers)]
        value = coverage(torch.stack(layers).mean(0), penalty)
        if each.leaf is not None:
            trail.cover(each.leaf, value)
        ranked.append(replace(each, score=each.score + value))
    return sorted(ranked, key=lambda each: each.score, reverse=True)


def losing_least(
    checkpoint: Checkpoint,
    text: str,
    source: Sequence[Token],
    edits: Sequence[Edit],
    hypotheses: Sequence[Hypothesis],
    on_step: OnStep | None = None,
) -> list[Hypothesis]:
    """Rank finished hypotheses anew: the fewest lost words first, then as they are ranked.

    source: the tokens that are read. on_step: as in `covered`. Raises OptionError for a model that
    no lost words are known of, or that would run once for each word.
    """
    if checkpoint.family.reads != "source" or not function_words(checkpoint):
        raise OptionError(
            f"{FEWEST_LOST.name} is of models that translate from English: {checkpoint.name} is "
            "not known to be one."
        )
    if checkpoint.family.is_watched:
        raise OptionError(
            f"{FEWEST_LOST.name} hides every word of the text in a batch, as models that are built "
            f"here can: {checkpoint.name} would run once for each."
        )
    judged = []
    for each in hypotheses:
        target = tuple(map(checkpoint.tokenizer.token, each.ids))
        lost = losses(checkpoint, text, source, target, edits, on_step)
        judged.append(replace(each, n_lost=sum(len(span.words) for span in lost)))
    return sorted(judged, key=lambda each: each.n_lost or 0)


def received(weights: Tensor) -> Tensor:
    """Return what each source word has received after each step: [T, S], sums over the rows so far.

    weights: [T, S], of one head or a mean of heads; the last row is what `coverage` counts.
    """
    return weights.double().cumsum(0)
