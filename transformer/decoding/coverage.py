"""The coverage penalty (Wu et al. 2016, section 7): what of the source no written word looks at."""

from collections.abc import Sequence
from dataclasses import replace

import torch
from torch import Tensor

from transformer.checkpoint import Checkpoint
from transformer.decoding.course import Trail
from transformer.decoding.method import Hypothesis, Option, OptionError
from transformer.decoding.shared_batch import OnStep
from transformer.edits.edit import Edit
from transformer.recording.ours import record

COVERAGE = Option(
    *("coverage_penalty", "Coverage penalty", 0.0, 0.0, 2.0),
    explain="Higher favours texts that look at all of the source.",
    widest=(0.0, 1e4),
    off=0.0,
    term=r" + \beta \sum_s \log \min(1, \sum_t A_{ts})",
    source="Wu et al. 2016, section 7",
)
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


def received(weights: Tensor) -> Tensor:
    """Return what each source word has received after each step: [T, S], sums over the rows so far.

    weights: [T, S], of one head or a mean of heads; the last row is what `coverage` counts.
    """
    return weights.double().cumsum(0)
