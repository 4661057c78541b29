"""A yardstick for lenses: the order in which each puts the source's words, against hide's."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import repeat

import torch
from torch import Tensor

from transformer.analysis.bootstrap import interval
from transformer.analysis.reading import Reading, lenses, read
from transformer.causes.evidence import evidence
from transformer.checkpoint import Checkpoint
from transformer.decoding.decode import decode
from transformer.inputs import InputError
from transformer.recording.ours import record
from transformer.token import Token
from transformer.words import word_groups

CUT, RANDOM = "cut", "random order"
"""Two that lenses stand beside: another intervention, and one that knows nothing."""


@dataclass(frozen=True)
class Estimate:
    """A mean over written words; resampled sentences give 95 % of theirs between low and high."""

    mean: float
    low: float | None
    """None: there is only one sentence."""
    high: float | None


@dataclass(frozen=True)
class Agreement:
    """One order of the source's words against that of what hiding each of them costs."""

    rank: Estimate
    """Spearman's correlation of a written word's row with its costs, -1..1."""
    first: Estimate
    """The share of written words whose first source word is the one that costs most."""
    n_sentences: int
    n_words: int


@dataclass(frozen=True)
class Yardstick:
    """Every lens, measured on the same sentences."""

    agreements: dict[str, Agreement]
    """Lens -> how well it does; then CUT and RANDOM."""
    left_out: dict[str, str]
    """Lens or text -> the sentence that says why."""


def yardstick(
    checkpoint: Checkpoint, texts: Iterable[str], targets: Iterable[str] | None = None
) -> Yardstick:
    """Hide every word of each text, and compare with that what lenses make of the same output.

    targets: what is written of each text; None: what greedy decoding writes. A lens is read in
    cross-attention: the last layer, the mean of its heads, by the row that writes. Special tokens
    are left out on both sides. Raises InputError where there is no cross-attention, or no text that
    could be read.
    """
    if "cross" not in checkpoint.family.attentions:
        raise InputError(f"{checkpoint.name} has no cross-attention, which lenses are compared in.")
    rows: dict[str, list[Tensor]] = {}
    left_out: dict[str, str] = {}
    wanted: Iterable[str | None] = repeat(None) if targets is None else targets
    for text, target in zip(texts, wanted, strict=targets is not None):
        try:
            maps, costs, reasons = _sentence(checkpoint, text, target)
        except InputError as error:
            left_out[text] = str(error)
            continue
        left_out |= reasons
        for name, values in maps.items():
            rows.setdefault(name, []).append(agreement(values, costs))
    if not rows:
        raise InputError(next(iter(left_out.values()), "There is no text to compare lenses on."))
    names = [name for name in (*lenses(), CUT, RANDOM) if name in rows]
    return Yardstick({name: _agreement(rows[name]) for name in names}, left_out)


def agreement(values: Tensor, costs: Tensor) -> Tensor:
    """Compare rows [T, S] of values with rows of costs: rank correlation and first word, [T, 2].

    What is equal shares its rank. Of several first words each has its part; a row in which all are
    equal has no order: its correlation is 0.
    """
    ours, theirs = _ranks(values), _ranks(costs)
    sizes = (ours.square().sum(-1) * theirs.square().sum(-1)).sqrt()
    rank = torch.where(sizes > 0, (ours * theirs).sum(-1) / sizes.clamp_min(1.0), 0.0)
    is_first = (values == values.amax(-1, keepdim=True)).double()
    needed = costs.argmax(-1, keepdim=True)
    first = (is_first / is_first.sum(-1, keepdim=True)).gather(-1, needed)[:, 0]
    return torch.stack([rank, first], -1)


def _ranks(values: Tensor) -> Tensor:
    """Count those of a row below each value less those above it: ranks around 0, in float64."""
    return (values[..., :, None] - values[..., None, :]).sign().sum(-1).double()


def _sentence(
    checkpoint: Checkpoint, text: str, target: str | None
) -> tuple[dict[str, Tensor], Tensor, dict[str, str]]:
    """Name -> values, and the costs of hiding, a row per written word [T, S]; lens -> why not."""
    written = decode(checkpoint, text).target if target is None else target
    recording = record(checkpoint, text, written)
    rows, columns = _words(recording.target), _words(recording.source)
    if not rows or len(columns) < 2:
        raise InputError("There are not two words to compare, or none is written.")
    result = evidence(checkpoint, text, recording.target)
    assert result.cut is not None
    costs, cut = (each[rows][:, columns] for each in (result.hidden, result.cut))
    maps, reasons = {CUT: cut, RANDOM: torch.zeros_like(costs)}, {}
    for name, lens in lenses().items():
        if lens.of_output:  # it is the judge itself
            continue
        try:
            words = read(recording, "cross", Reading(lens=name, words=True, special="hidden"))
        except ValueError as error:
            reasons[name] = str(error)
            continue
        maps[name] = words.values(words.n_layers - 1).mean(0).double()
    return maps, costs, reasons


def _words(tokens: Sequence[Token]) -> list[int]:
    """Number the words that are not special, as `Evidence` counts them."""
    return [i for i, group in enumerate(word_groups(tokens)) if not tokens[group[0]].special]


def _agreement(sentences: list[Tensor]) -> Agreement:
    """Join what sentences of [T, 2] each give: words count alike, sentences are resampled."""
    sizes = torch.tensor([len(rows) for rows in sentences])
    means = interval(torch.stack([rows.mean(0) for rows in sentences]), sizes)
    sure = len(sentences) > 1
    rank, first = (
        Estimate(float(mean), float(low) if sure else None, float(high) if sure else None)
        for mean, low, high in zip(means.mean, means.low, means.high, strict=True)
    )
    return Agreement(rank, first, len(sentences), int(sizes.sum()))
