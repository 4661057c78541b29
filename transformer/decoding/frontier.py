"""The frontier of a beam search: the hypotheses that are open, and those that have ended."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import torch
from torch import Tensor

from transformer.decoding.constraints import barred, repeats_more
from transformer.decoding.course import Course
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
from transformer.decoding.phrases import Phrases, Placed
from transformer.decoding.search_tree import Why
from transformer.decoding.steps import OnToken
from transformer.finite import log_probabilities
from transformer.inputs import InputError

# The frontier of a beam search: the hypotheses that are open, and those that have ended.

NOTHING = Placed()
FOUND, ENOUGH, NEVER = 0, 1, 2
"""The times at which a search may stop: see `Rule.stops`."""


@dataclass(frozen=True)
class Rule:
    """The numbers by which a beam ranks and ends."""

    size: int
    length_penalty: float = 0.6
    plain: bool = False
    """True: log p / length ** penalty, as Hugging Face has it; False: that of Wu et al. 2016."""
    stops: int = FOUND
    """FOUND: when `size` have ended and no open one scores better as it stands; ENOUGH: when `size`
    have ended; NEVER: when no open one could ever score better, up to the longest text."""
    repeats: int = 0
    limit: int = 1
    """The longest text, in tokens."""
    n_ends: int = 1
    """Tokens that end a text."""

    def divisor(self, length: int) -> float:
        """The length penalty of a text of so many tokens."""
        return float((length if self.plain else (5 + length) / 6) ** self.length_penalty)


@dataclass(frozen=True, eq=False)
class Branch:
    """One hypothesis on its way: its tokens and the distributions that they came from."""

    ids: tuple[int, ...] = ()
    rows: tuple[Tensor, ...] = ()
    total: float = 0.0
    """Sum of what is ranked by, in nats."""
    node: int = 0
    changed: tuple[Tensor, ...] = ()
    """The same distributions after the rules of its folder, where it has any."""
    placed: Placed = NOTHING

    def finish(self, rule: Rule, error: Exception | None = None) -> Hypothesis:
        """Make it a hypothesis, with its score."""
        score = self.total / rule.divisor(len(self.ids))
        after = torch.stack(self.changed).cpu() if self.changed else None
        rows = torch.stack(self.rows).cpu()
        return Hypothesis(self.ids, rows, score, after, error, self.node)


class Candidate(NamedTuple):
    """A token that could come next after an open hypothesis."""

    total: float
    parent: int
    """The number of the open hypothesis."""
    id: int


@dataclass(eq=False)
class Frontier:
    """One beam. A step takes the distributions of its open hypotheses, and leaves others open."""

    rule: Rule
    course: Course
    ends: Collection[int]
    """Ids that end a text."""
    open: list[Branch] = field(default_factory=list)
    finished: list[Hypothesis] = field(default_factory=list)
    is_done: bool = False
    foremost: tuple[Branch, ...] = ()
    """Open hypotheses that would have ended, if no text could be longer."""

    @property
    def _phrases(self) -> Phrases:
        return self.course.phrases

    def step(
        self, rows: Tensor, scores: Tensor, has_rules: bool, likes: Tensor | None = None
    ) -> list[int]:
        """Take a step; returns, for each hypothesis that is open then, which one it goes on from.

        rows [n, V]: the model's log-probabilities after each open hypothesis; scores [n, V]: those
        after the rules of its folder; likes [V]: what is added for this choice alone, and to no
        score.
        """
        before = rows.new_tensor([branch.total for branch in self.open])
        totals = scores + before[:, None]
        closed = self._bar(totals)
        ranked = self._candidates(totals if likes is None else totals + likes)
        if likes is not None:
            ranked = [each._replace(total=float(totals[each.parent, each.id])) for each in ranked]
        if not ranked:
            raise InputError("What is forbidden leaves no token that may come next: forbid less.")
        size, length = self.rule.size, len(self.open[0].ids) + 1
        stay, ended, lost = self._choose(ranked, length)
        values = rows[[each.parent for each in ranked], [each.id for each in ranked]].tolist()
        own = dict(zip(ranked, values, strict=True))
        ranks = {each: rank for rank, each in enumerate(ranked)}
        if self._phrases or likes is not None:  # others than the best are among them
            ranks = {each: int((totals > each.total).sum()) for each in ranked}
        nodes = {each: self._note(each, own[each], ranks[each]) for each in (*stay, *ended)}
        last = [*stay, *ended]
        worst = nodes[min(last)] if last else None
        for each in lost:
            if (self.open[each.parent].node, each.id) not in self.course.trail:
                node = self._note(each, own[each], ranks[each])
                if last and each.total <= min(last).total:
                    self.course.trail.drop(node, "beam", worst)
                else:
                    # Better than the last one that stays: its place was another's, or, as only
                    # the best of a step may end, it ends too low.
                    other: Why = "end" if likes is None else "group"
                    self.course.trail.drop(node, "bank" if self._phrases else other)
        self._note_barred(closed, rows, ranked)
        gone_on = {each.parent for each in last}
        for at, branch in enumerate(self.open):
            if at not in gone_on and branch.node:
                self.course.trail.drop(branch.node, "continuations", worst)
        grown = {each: self._grow(each, nodes[each], rows, scores, has_rules) for each in last}
        self._end([grown[each].finish(self.rule) for each in ended])
        first = set(self._allotted(ranked) if self._phrases else ranked[:size])
        self.open = [grown[each] for each in stay]
        self.foremost = tuple(grown[each] for each in stay if each in first)
        self.is_done = not self.open or self._is_settled(length, size)
        return [each.parent for each in stay]

    def close(self, error: Exception | None = None) -> None:
        """End the search. error: it could not go on, and what is open counts as written."""
        if error is not None:
            begun = [each.finish(self.rule, error) for each in self.open if self._may_end(each)]
            self._end(begun)
        else:
            worst = self.finished[-1].leaf if self.finished else None
            for branch in self.open:
                self.course.trail.drop(branch.node, "stopped", worst)
        self.open = []

    def best_so_far(self) -> tuple[int, ...]:
        """The tokens of the best of all that has ended or might end here; empty: of none."""
        scored = [(each.score, each.ids) for each in self.finished]
        for each in filter(self._may_end, self.foremost):
            scored.append((each.total / self.rule.divisor(len(each.ids)), each.ids))
        return max(scored, default=(0.0, ()))[1]

    def so_far(self) -> Callable[[], list[Hypothesis]]:
        """Make the hypotheses of this step, best first, whenever it is called."""
        finished, going = tuple(self.finished), tuple(filter(self._may_end, self.foremost))

        def hypotheses() -> list[Hypothesis]:
            every = [*finished, *(each.finish(self.rule) for each in going)]
            return sorted(every, key=lambda each: each.score, reverse=True)[: self.rule.size]

        return hypotheses

    def _bar(self, totals: Tensor) -> list[tuple[Candidate, Why]]:
        """Rule out what may not come next: in `totals`, which change; returns what it was."""
        closed: list[tuple[Candidate, Why]] = []
        for at, branch in enumerate(self.open):
            reasons: dict[int, Why] = dict.fromkeys(barred(branch.ids, self.rule.repeats), "barred")
            if self.course.bars:
                reasons |= dict.fromkeys(self.course.bars(branch.ids), "forbidden")
            if reasons:
                ids = list(reasons)
                values = totals[at, ids].tolist()
                for id, value in zip(ids, values, strict=True):
                    closed.append((Candidate(value, at, id), reasons[id]))
                totals[at, ids] = -torch.inf
            if not branch.placed.is_whole(self._phrases):
                totals[at, list(self.ends)] = -torch.inf
        return closed

    def _candidates(self, totals: Tensor) -> list[Candidate]:
        """The best of all, best first; and whatever brings a forced phrase further."""
        n_kept = self.rule.size * (1 + max(1, self.rule.n_ends))  # so many can end at most
        best = totals.flatten().topk(min(n_kept, totals.numel()))
        n = totals.size(1)
        ranked = {
            Candidate(total, *divmod(index, n))
            for total, index in zip(best.values.tolist(), best.indices.tolist(), strict=True)
        }
        if self._phrases:
            for at, branch in enumerate(self.open):
                ids = {int(totals[at].argmax()), *branch.placed.following(self._phrases)}
                ranked |= {Candidate(float(totals[at, id]), at, id) for id in ids}
        possible = [each for each in ranked if each.total > -torch.inf]
        return sorted(possible, key=lambda each: (-each.total, each.parent, each.id))

    def _choose(
        self, ranked: Sequence[Candidate], length: int
    ) -> tuple[list[Candidate], list[Candidate], list[Candidate]]:
        """Return the candidates that stay open, those that end, and the others."""
        size, is_last = self.rule.size, length == self.rule.limit
        first = ranked[:size] if not self._phrases else self._allotted(ranked)
        ended = [each for each in first if is_last or each.id in self.ends]
        if self._phrases:
            ended = [each for each in ended if self._after(each).is_whole(self._phrases)]
            going = [each for each in ranked if each.id not in self.ends and not is_last]
            stay = self._allotted(going)
        else:
            going = [each for each in ranked if each.id not in self.ends and not is_last]
            stay = going[:size]
        taken = {*stay, *ended}
        return stay, ended, [each for each in ranked if each not in taken]

    def _allotted(self, ranked: Sequence[Candidate]) -> list[Candidate]:
        """Fill the beam: an equal share for each number of forced tokens written.

        Post and Vilar 2018, section 3: banks; what one leaves goes to those that are further.
        """
        banks: dict[int, list[Candidate]] = {}
        for each in ranked:
            banks.setdefault(self._after(each).n_tokens(self._phrases), []).append(each)
        chosen: list[Candidate] = []
        while len(chosen) < self.rule.size and any(banks.values()):
            for n in sorted(banks, reverse=True):
                if banks[n] and len(chosen) < self.rule.size:
                    chosen.append(banks[n].pop(0))
        return sorted(chosen, key=ranked.index)

    def _after(self, candidate: Candidate) -> Placed:
        return self.open[candidate.parent].placed.after(candidate.id, self._phrases)

    def _may_end(self, branch: Branch) -> bool:
        return bool(branch.ids) and branch.placed.is_whole(self._phrases)

    def _note(self, candidate: Candidate, log_prob: float, rank: int) -> int:
        parent = self.open[candidate.parent]
        divisor = self.rule.divisor(len(parent.ids) + 1)
        place = (parent.node, candidate.id, log_prob, candidate.total, divisor, rank)
        return self.course.trail.add(*place)

    def _note_barred(
        self,
        closed: Sequence[tuple[Candidate, Why]],
        rows: Tensor,
        ranked: Sequence[Candidate],
    ) -> None:
        """Write down what was ruled out, where it would have been among the candidates."""
        least = ranked[-1].total if ranked else -torch.inf
        for each, why in closed:
            if each.total >= least and each.total > -torch.inf:
                rank = sum(other.total > each.total for other in ranked)
                log_prob = float(rows[each.parent, each.id])
                self.course.trail.drop(self._note(each, log_prob, rank), why)

    def _grow(
        self, candidate: Candidate, node: int, rows: Tensor, scores: Tensor, has_rules: bool
    ) -> Branch:
        old, at = self.open[candidate.parent], candidate.parent
        changed = (*old.changed, scores[at].log_softmax(-1)) if has_rules else ()
        ids, all_rows = (*old.ids, candidate.id), (*old.rows, rows[at])
        return Branch(ids, all_rows, candidate.total, node, changed, self._after(candidate))

    def _end(self, hypotheses: Sequence[Hypothesis]) -> None:
        """Take in what has ended: the best of all stay, as many as the beam has."""
        ranked = sorted([*self.finished, *hypotheses], key=lambda h: h.score, reverse=True)
        self.finished = ranked[: self.rule.size]
        for each in ranked[self.rule.size :]:
            if each.leaf is not None:
                self.course.trail.drop(each.leaf, "finished", self.finished[-1].leaf)

    def _is_settled(self, length: int, size: int) -> bool:
        """Tell whether the best open hypothesis already loses to every finished one."""
        if len(self.finished) < size:
            return False
        if self.rule.stops == ENOUGH:
            return True
        is_longest = self.rule.stops == NEVER and self.rule.length_penalty > 0
        best = max(each.total for each in self.open)
        best /= self.rule.divisor(self.rule.limit if is_longest else length)
        return self.finished[-1].score >= best


# The search that follows several hypotheses at once, in one beam or in groups of beams.

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
