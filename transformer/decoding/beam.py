"""Beam search with a length penalty (Wu et al. 2016, section 7, as AIAYN section 6.1 uses it)."""

import torch
from torch import Tensor

from transformer.decoding.course import Course
from transformer.decoding.coverage import COVERAGE
from transformer.decoding.frontier import Branch, Frontier, Rule
from transformer.decoding.left_to_right import OnToken
from transformer.decoding.method import (
    Ask,
    Hypothesis,
    Method,
    Model,
    Option,
    Rules,
    Search,
    length_limit,
    ruled,
    rules_of,
)
from transformer.decoding.phrases import Placed
from transformer.decoding.repetition import repeats_more
from transformer.finite import log_probabilities
from transformer.inputs import InputError


def beam(
    model: Model,
    source: Tensor,
    max_len: int | None = None,
    beam_size: int = 4,
    length_penalty: float = 0.6,
    repeats: int = 0,
    early_stopping: int = 0,
    plain_length: int = 0,
    groups: int = 1,
    diversity: float = 0.0,
    on_token: OnToken | None = None,
    course: Course | None = None,
) -> Search:
    """source: [1, S] -> at most beam_size hypotheses, best first.

    A hypothesis scores log p / ((5 + length) / 6) ** length_penalty; plain_length 1: log p /
    length ** length_penalty. early_stopping: see `Rule.stops`; beam_size 1 is greedy. repeats: see
    `barred`; nothing is barred where the source itself repeats something more often. groups: see
    `transformer.decoding.diverse`. Raises ValueError for a beam_size or max_len below 1.
    """
    if beam_size < 1:
        raise ValueError(f"beam_size must be at least 1, not {beam_size}.")
    course = course or Course()
    limit = length_limit(model, source, max_len)
    course.check_room(limit, model.config.eos_ids)
    ends = model.config.eos_ids
    rules = rules_of(model, source, limit)
    repeats = 0 if repeats_more(source[0].tolist(), repeats) else repeats
    sizes = [beam_size // groups + (n < beam_size % groups) for n in range(min(groups, beam_size))]
    numbers = (length_penalty, bool(plain_length), early_stopping, repeats, limit, len(ends))
    beams = [Frontier(Rule(size, *numbers), course, ends) for size in sizes]
    ask, is_begun = Ask(course.first(model, source)), False
    while True:
        try:
            logits = yield ask
            if not is_begun:
                is_begun = True
                first = _begun(course, logits, rules)
                if first.ids and first.ids[-1] in ends:  # the prefix is all
                    return _whole(first, beams[0].rule, course)
                for each in beams:
                    each.open = [first]
            rows = log_probabilities(logits[:, -1])  # [branches, V]
            if len(beams) > 1 and len(rows) == 1:
                rows = rows.expand(len(beams), -1)
            scores = rows
            if rules is not None:
                written = [branch.ids for each in beams for branch in each.open]
                scores = ruled(rules, source.new_tensor(written).long().view(len(rows), -1), rows)
            parents = _step(beams, rows, scores, rules is not None, diversity)
        except InputError as error:
            if not is_begun or not any(branch.ids for each in beams for branch in each.open):
                raise
            for each in beams:
                each.close(error)
            return _ranked(beams, course)
        if on_token is not None:
            _tell(beams[0], on_token)
        going = [each for each in beams if each.open]
        if not going:
            return _ranked(beams, course)
        last = source.new_tensor([[b.ids[-1]] for each in going for b in each.open])
        at = parents if len(logits) > 1 else [0] * len(parents)
        ask = Ask(last, torch.tensor(at, device=source.device))


def _begun(course: Course, logits: Tensor, rules: Rules | None) -> Branch:
    """The hypothesis that all of them go on from: the prefix, or nothing yet."""
    rows, nodes = course.begin(logits)
    changed = course.ruled_prefix(rules, rows)
    prefix, placed = course.constraints.prefix, Placed()
    for id in prefix:
        placed = placed.after(id, course.phrases)
    total = sum(float(row[id]) for row, id in zip(rows, prefix, strict=True))
    return Branch(prefix, rows, total, (0, *nodes)[-1], changed, placed)


def _whole(prefix: Branch, rule: Rule, course: Course) -> list[Hypothesis]:
    """The prefix as the only hypothesis. Raises InputError where a forced phrase is not in it."""
    if not prefix.placed.is_whole(course.phrases):
        raise InputError(
            "The text that is begun has its end already, and not all of the forced words: take "
            "the end or the words away."
        )
    course.mark_forced([prefix.finish(rule)])
    return [prefix.finish(rule)]


def _tell(beam: Frontier, on_token: OnToken) -> None:
    """Tell of the hypotheses as if no text were longer than those that are open now."""
    best = beam.best_so_far()
    if best and beam.open:
        on_token(best, len(beam.open[0].ids), beam.so_far())


def _step(
    beams: list[Frontier], rows: Tensor, scores: Tensor, has_rules: bool, diversity: float
) -> list[int]:
    """A step of each; returns which rows those go on from that are open then."""
    parents: list[int] = []
    n_seen, written = 0, rows.new_zeros(rows.size(1))
    for each in beams:
        n = len(each.open)
        if not n:
            continue
        part = slice(n_seen, n_seen + n)
        likes = -diversity * written if len(beams) > 1 else None
        own = each.step(rows[part], scores[part], has_rules, likes)
        for branch in each.open:
            written[branch.ids[-1]] += 1
        if each.is_done:
            each.close()
            own = []
        parents += [n_seen + parent for parent in own]
        n_seen += n
    return parents


def _ranked(beams: list[Frontier], course: Course) -> list[Hypothesis]:
    """Return what has ended in all of them, best first. Raises InputError where nothing could."""
    every = sorted((h for beam in beams for h in beam.finished), key=lambda h: -h.score)
    # Groups may find the same.
    finished = list({each.ids: each for each in reversed(every)}.values())[::-1]
    if not finished and len(course.phrases):
        raise InputError(
            "The forced words found no place in so long a text: allow a longer one, a larger beam, "
            "or force fewer."
        )
    course.mark_forced(finished)
    return finished


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
        Option(
            *("early_stopping", "Stops", 0, 0, 2),
            explain=(
                "Where the beam is full of ended texts: 0 if no open one scores better now, "
                "1 at once, 2 only if no open one could ever score better."
            ),
            off=0,
        ),
        Option(
            *("plain_length", "Plain length", 0, 0, 1),
            explain="1: divided by a power of the length itself, as Hugging Face does.",
            off=0,
        ),
        COVERAGE,
    ),
    first_for=("source",),
    streams=True,
    follows="beam_size",
    places=True,
)
