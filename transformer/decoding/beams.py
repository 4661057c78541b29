"""The search that follows several hypotheses at once, in one beam or in groups of beams."""

from collections.abc import Sequence

import torch
from torch import Tensor

from transformer.decoding.course import Course
from transformer.decoding.frontier import Branch, Frontier, Rule
from transformer.decoding.left_to_right import OnToken
from transformer.decoding.method import (
    Ask,
    Hypothesis,
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

BEAM_SIZE = Option(
    *("beam_size", "Beam size", 4, 1, 16),
    explain="Hypotheses that are followed at once.",
    widest=(1, 4096),
)
LENGTH_PENALTY = Option(
    *("length_penalty", "Length penalty", 0.6, 0.0, 5.0),
    explain="Higher favours longer ones.",
    widest=(-100.0, 100.0),
)


def search(
    model: Model,
    source: Tensor,
    max_len: int | None,
    sizes: Sequence[int],
    length_penalty: float,
    *,
    repeats: int = 0,
    early_stopping: int = 0,
    plain_length: int = 0,
    diversity: float = 0.0,
    on_token: OnToken | None = None,
    course: Course | None = None,
) -> Search:
    """source: [1, S] -> the hypotheses of beams of these sizes, best first.

    diversity: the nats that a token costs for each time that the beams before have just written it;
    the others are options of `beam`. Raises ValueError for a size or a max_len below 1.
    """
    if min(sizes, default=0) < 1:
        raise ValueError(f"beam_size must be at least 1, not {sum(sizes)}.")
    course = course or Course()
    limit = length_limit(model, source, max_len)
    course.check_room(limit, model.config.eos_ids)
    ends = model.config.eos_ids
    rules = rules_of(model, source, limit)
    repeats = 0 if repeats_more(source[0].tolist(), repeats) else repeats
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
        for branch in each.open if likes is not None else ():
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
