"""Beam search with a length penalty (Wu et al. 2016, section 7, as AIAYN section 6.1 uses it)."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from transformer.decoding.method import (
    Ask,
    Hypothesis,
    Method,
    Model,
    Option,
    Search,
    length_limit,
    ruled,
    rules_of,
)
from transformer.finite import log_probabilities
from transformer.inputs import InputError

LONGEST_RUN = 6
"""Tokens of a run that is looked at for repetition."""


@dataclass(frozen=True, eq=False)
class _Branch:
    """One hypothesis on its way: its tokens and the distributions that they came from."""

    ids: tuple[int, ...]
    rows: tuple[Tensor, ...]
    log_prob: float
    changed: tuple[Tensor, ...] = ()
    """The same distributions after the rules of its folder, where it has any."""


def beam(
    model: Model,
    source: Tensor,
    max_len: int | None = None,
    beam_size: int = 4,
    length_penalty: float = 0.6,
    repeats: int = 0,
) -> Search:
    """source: [1, S] -> at most beam_size hypotheses, best first.

    A hypothesis scores log p / ((5 + length) / 6) ** length_penalty. The search stops when
    beam_size have ended and no open branch scores better; so beam_size 1 is greedy. repeats: see
    `barred`; nothing is barred where the source itself repeats something more often. Raises
    ValueError for a beam_size or max_len below 1.
    """
    if beam_size < 1:
        raise ValueError(f"beam_size must be at least 1, not {beam_size}.")
    config = model.config
    limit = length_limit(model, source, max_len)
    rules = rules_of(model, source, limit)
    n_kept = beam_size * (1 + max(1, len(config.eos_ids)))  # so many of them can end at most
    read = source[0].tolist()
    if any(id in barred(read[:at], repeats) for at, id in enumerate(read)):
        repeats = 0
    ask = Ask(model.first(source))
    open_branches = [_Branch((), (), 0.0)]
    finished: list[Hypothesis] = []
    for length in range(1, limit + 1):
        try:
            logits = yield ask
            rows = log_probabilities(logits[:, -1])  # [branches, V]
            scores = rows
            if rules is not None:
                written = source.new_tensor([branch.ids for branch in open_branches])
                scores = ruled(rules, written.long().view(len(rows), -1), rows)
        except InputError as error:
            if length == 1:
                raise
            begun = [_finish(branch, length_penalty, error) for branch in open_branches]
            return sorted([*finished, *begun], key=lambda h: h.score, reverse=True)[:beam_size]
        totals = scores + rows.new_tensor([branch.log_prob for branch in open_branches])[:, None]
        for i, branch in enumerate(open_branches if repeats else ()):
            totals[i, list(barred(branch.ids, repeats))] = -torch.inf
        best = totals.flatten().topk(min(n_kept, totals.numel()))
        grown: list[_Branch] = []
        parents: list[int] = []
        ranked = zip(best.values.tolist(), best.indices.tolist(), strict=True)
        for rank, (total, index) in enumerate(ranked):
            if total == -torch.inf:  # barred
                continue
            parent, id = divmod(index, rows.size(1))
            old = open_branches[parent]
            after = () if rules is None else (*old.changed, scores[parent].log_softmax(-1))
            branch = _Branch((*old.ids, id), (*old.rows, rows[parent]), total, after)
            if id in config.eos_ids or length == limit:
                if rank < beam_size:
                    finished.append(_finish(branch, length_penalty))
            elif len(grown) < beam_size:
                grown.append(branch)
                parents.append(parent)
        finished = sorted(finished, key=lambda h: h.score, reverse=True)[:beam_size]
        if not grown or _settled(grown[0], finished, beam_size, length_penalty):
            break
        open_branches = grown
        last = source.new_tensor([[branch.ids[-1]] for branch in grown])
        ask = Ask(last, torch.tensor(parents, device=source.device))
    return finished


def barred(ids: Sequence[int], repeats: int) -> set[int]:
    """The tokens that would begin again a run that the end of ids has `repeats` times already.

    A run is one to six tokens. repeats: 0 bars nothing.
    """
    lengths = range(1, LONGEST_RUN + 1) if repeats else ()
    ends = [tuple(ids[-n * repeats :]) for n in lengths if n * repeats <= len(ids)]
    return {end[0] for end in ends if end == end[: len(end) // repeats] * repeats}


def _finish(branch: _Branch, length_penalty: float, error: Exception | None = None) -> Hypothesis:
    score = branch.log_prob / _penalty(len(branch.ids), length_penalty)
    after = torch.stack(branch.changed).cpu() if branch.changed else None
    return Hypothesis(branch.ids, torch.stack(branch.rows).cpu(), score, after, error)


def _settled(
    best: _Branch, finished: list[Hypothesis], beam_size: int, length_penalty: float
) -> bool:
    """Tell whether the best open branch already loses to every finished hypothesis."""
    score = best.log_prob / _penalty(len(best.ids), length_penalty)
    return len(finished) == beam_size and finished[-1].score >= score


def _penalty(length: int, length_penalty: float) -> float:
    return float(((5 + length) / 6) ** length_penalty)


METHOD = Method(
    name="beam",
    title="Beam search",
    run=beam,
    explain=(
        "The best few beginnings are continued at once, and of the finished texts the one of the "
        "best score wins: its log-probability, divided by a power of its length."
    ),
    formula=r"\frac{\log p(y \vert x)}{((5 + \vert y \vert) / 6)^\alpha}",
    source="Wu et al. 2016, section 7",
    options=(
        Option(
            *("beam_size", "Beam size", 4, 1, 16),
            explain="Hypotheses that are followed at once.",
            widest=(1, 4096),
        ),
        Option(
            *("length_penalty", "Length penalty", 0.6, 0.0, 2.0),
            explain="Higher favours longer ones.",
            widest=(-100.0, 100.0),
        ),
        Option(
            *("repeats", "Repetitions", 0, 0, 9),
            explain="How often the same may stand in succession; 0: as often as it likes.",
            off=0,
        ),
    ),
    first_for=("source",),
    follows="beam_size",
)
