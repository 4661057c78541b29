"""Decoding that never looks back, step by step: the candidates and the choice of each."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import torch
from torch import Tensor

from transformer.checkpoint import Checkpoint
from transformer.decoding.course import Course, masked, note_step
from transformer.decoding.method import (
    Ask,
    Hypothesis,
    Method,
    Model,
    Rules,
    Search,
    length_limit,
    ruled,
    rules_of,
)
from transformer.decoding.search_tree import SearchTree, Why
from transformer.field_docs import fields_in_help
from transformer.finite import log_probabilities
from transformer.in_a_line import in_a_line
from transformer.inputs import InputError
from transformer.origin import Origin
from transformer.token import Candidate, Token
from transformer.tokenizer import Tokenizer

# The candidates and the choice of each decoding step.

N_CANDIDATES = 10


@fields_in_help
@dataclass(frozen=True)
@in_a_line
class Step:
    """One decoding step: the token chosen and what stood beside it."""

    chosen: Candidate
    """The token that was written."""
    candidates: tuple[Candidate, ...]
    """The most probable tokens, best first."""
    rest: float
    """The probability of all other tokens together."""
    entropy: float
    """Entropy of the whole distribution, in bits."""


@fields_in_help
@dataclass(frozen=True, eq=False)
class Decoding:
    """A finished decoding: the best hypothesis, its steps, and every hypothesis found."""

    text: str
    """The target as text, without special tokens; after a prompt what follows it."""
    source: tuple[Token, ...]
    """The tokens that were read, special ones included."""
    target: tuple[Token, ...]
    """The T tokens that were written, a prefix and the end included."""
    steps: tuple[Step, ...]
    """One for each token of the target."""
    hypotheses: tuple[Hypothesis, ...]
    """All that the method ends with, the best first: the target is its tokens."""
    vocab_size: int
    """Tokens that each step chose from."""
    search: SearchTree
    """Every token that the search looked at on its way to them."""
    is_ended: bool = True
    """True: the target ends by the model's will, not at the limit of its length."""
    ended_by: str = ""
    """The sentence why the model could not go on; empty: nothing kept it."""
    origin: Origin | None = None
    """The call that made it, of a model of ours; None: it came otherwise."""

    def __repr__(self) -> str:
        sizes = f"{len(self.target)} tokens, {len(self.hypotheses)} hypotheses"
        return f"Decoding({self.text!r}, {sizes}, log_prob={self.log_prob:.3f})"

    @property
    def log_prob(self) -> float:
        """log p(target | source), in nats: of all that was written, prefix and end included."""
        return self.hypotheses[0].log_prob

    def without_distributions(self) -> "Decoding":
        """The same, as small as what is seen of it: see `Hypothesis.without_distributions`."""
        short = tuple(each.without_distributions() for each in self.hypotheses)
        return replace(self, hypotheses=short)


def written_text(checkpoint: Checkpoint, sources: Sequence[int], ids: Sequence[int]) -> str:
    """The generated text; after a prompt everything that follows it, the space included."""
    text = checkpoint.tokenizer.decode
    if not checkpoint.family.continues:
        return text(ids)
    begun, whole = text(sources), text([*sources, *ids])
    return whole.removeprefix(begun) if whole.startswith(begun) else text(ids)


def steps_of(hypothesis: Hypothesis, tokenizer: Tokenizer) -> tuple[Step, ...]:
    """The steps of a hypothesis from its log_probs [T, V]."""
    after = hypothesis.ruled
    rows = [None] * len(hypothesis.ids) if after is None else list(after)
    return tuple(
        _step(row, chosen, tokenizer, ruled)
        for row, chosen, ruled in zip(hypothesis.log_probs, hypothesis.ids, rows, strict=True)
    )


def candidates_of(logits: Tensor, tokenizer: Tokenizer) -> tuple[tuple[Candidate, ...], float]:
    """The most probable tokens of a distribution, logits [V], and the probability of the rest."""
    return _best(logits.double().softmax(-1), tokenizer)


def _step(log_probs: Tensor, chosen: int, tokenizer: Tokenizer, ruled: Tensor | None) -> Step:
    probs = log_probs.double().exp()
    after = None if ruled is None else ruled.double().exp()
    candidates, rest = _best(probs, tokenizer, after)
    entropy = -float((probs * log_probs.clamp_min(-1e4)).sum()) / math.log(2)
    token = Candidate(tokenizer.token(chosen), float(probs[chosen]), _at(after, chosen))
    return Step(token, candidates, rest, entropy)


def _at(probs: Tensor | None, id: int) -> float | None:
    return None if probs is None else float(probs[id])


def _best(
    probs: Tensor, tokenizer: Tokenizer, after: Tensor | None = None
) -> tuple[tuple[Candidate, ...], float]:
    best = probs.topk(min(N_CANDIDATES, probs.numel()))
    candidates = tuple(
        Candidate(tokenizer.token(id), prob, _at(after, id))
        for id, prob in zip(best.indices.tolist(), best.values.tolist(), strict=True)
    )
    return candidates, max(0.0, 1.0 - sum(candidate.prob for candidate in candidates))


# Forced decoding: the target is given, the model says how probable each of its tokens is.


def forced(
    model: Model,
    source: Tensor,
    max_len: int | None = None,
    target_ids: tuple[int, ...] = (),
    course: Course | None = None,
) -> Search:
    """source: [1, S]; target_ids without the start token -> one hypothesis, in one pass."""
    prefix = source.new_tensor([target_ids[:-1]], dtype=source.dtype)
    inputs = torch.cat([model.first(source), prefix], dim=1)
    logits = yield Ask(inputs)
    log_probs = log_probabilities(logits[0, -len(target_ids) :]).cpu()
    score = float(log_probs[torch.arange(len(target_ids)), torch.tensor(target_ids)].sum())
    node, trail = 0, (course or Course()).trail
    for row, id in zip(log_probs, target_ids, strict=True):
        node = note_step(trail, node, row, id, lambda _: "forced", is_forced=True)
    return [Hypothesis(tuple(target_ids), log_probs, score, leaf=node)]


METHOD = Method(
    name="forced",
    title="Forced",
    run=forced,
    explain="The target is given, and the model says how probable each of its tokens is.",
    formula=r"\log p(y \vert x) = \sum_t \log p(y_t \vert y_1 \dots y_{t-1}, x)",
    needs_target=True,
)


# Decoding that never looks back: each step one token, from the step's own distribution.

OnToken = Callable[[Sequence[int], int, Callable[[], Sequence[Hypothesis]]], object]
"""Told of each step: the best text so far, how many tokens a text can have by then, and how to get
the hypotheses up to there, best first, at any time."""
Choose = Callable[[Tensor], int]
"""log_probs [V], minus infinity where a token is barred -> the id of the next token."""


@dataclass(eq=False)
class _Line:
    """One text on its way."""

    choose: Choose
    ids: list[int] = field(default_factory=list)
    rows: list[Tensor] = field(default_factory=list)
    changed: list[Tensor] = field(default_factory=list)
    nodes: list[int] = field(default_factory=lambda: [0])
    """The node of the trail before each of its tokens, and after the last."""
    has_ended: bool = False
    error: Exception | None = None

    def up_to(self, n: int) -> Hypothesis:
        log_probs = torch.stack(self.rows[:n]).cpu()
        after = torch.stack(self.changed[:n]).cpu() if self.changed else None
        score = float(log_probs[range(n), self.ids[:n]].sum())
        error = self.error if n == len(self.ids) else None
        return Hypothesis(tuple(self.ids[:n]), log_probs, score, after, error, self.nodes[n])


def left_to_right(
    model: Model,
    source: Tensor,
    choices: Sequence[Choose],
    why: Why,
    max_len: int | None = None,
    on_token: OnToken | None = None,
    course: Course | None = None,
) -> Search:
    """source: [1, S]. One hypothesis for each of `choices`, in their order, scored by
    log-probability.

    why: the reason why other tokens of a step were not written. on_token: told of the text of the
    first one, and of the hypotheses of all. What the model cannot go on after ends it, if something
    was written.
    """
    course = course or Course()
    limit = length_limit(model, source, max_len)
    course.check_room(limit, model.config.eos_ids)
    rules = rules_of(model, source, limit)
    lines = [_Line(choose) for choose in choices]
    going, ask = lines, Ask(course.first(model, source))
    for _ in range(max(1, limit - len(course.constraints.prefix))):
        try:
            logits = yield ask
            if not going[0].ids:
                _begin(lines, course, logits, rules)
                if lines[0].ids and lines[0].ids[-1] in model.config.eos_ids:
                    return [line.up_to(len(line.ids)) for line in lines]  # the prefix is all
            scores = logits[:, -1].expand(len(going), -1)
            own = log_probabilities(scores)
            if rules is not None:
                written = source.new_tensor([line.ids for line in going], dtype=torch.long)
                scores = ruled(rules, written.view(len(going), -1), scores)
        except InputError as error:
            if not going[0].ids:
                raise
            for line in going:
                line.error = error
            break
        for line, row, changed in zip(going, own, scores, strict=True):
            try:
                _write(line, row, None if rules is None else changed, course, why)
            except InputError as error:
                if not line.ids:
                    raise
                line.error, line.has_ended = error, True
                continue
            line.has_ended = line.ids[-1] in model.config.eos_ids
        if on_token is not None:
            n = max(len(line.ids) for line in lines)
            on_token(tuple(lines[0].ids), n, partial(_up_to, lines, n))
        alive = [at for at, line in enumerate(going) if not line.has_ended]
        if not alive:
            break
        # The first step has one row for all of them.
        is_same = len(logits) == len(alive)
        parents = [at if len(logits) > 1 else 0 for at in alive]
        going = [going[at] for at in alive]
        last = source.new_tensor([[line.ids[-1]] for line in going])
        ask = Ask(last, None if is_same else torch.tensor(parents, device=source.device))
    return [line.up_to(len(line.ids)) for line in lines]


def _up_to(lines: Sequence[_Line], n: int) -> list[Hypothesis]:
    """All of them, as if no text were longer than n tokens."""
    return [line.up_to(min(n, len(line.ids))) for line in lines]


def _begin(lines: Sequence[_Line], course: Course, logits: Tensor, rules: Rules | None) -> None:
    rows, nodes = course.begin(logits)
    scores = logits[0, -len(rows) - 1 : -1]  # rules are of logits here
    changed = course.ruled_prefix(rules, list(scores) if rows else ())
    for line in lines:
        line.ids, line.rows, line.nodes = list(course.constraints.prefix), list(rows), [0, *nodes]
        line.changed = list(changed)


def _write(line: _Line, own: Tensor, ruled: Tensor | None, course: Course, why: Why) -> None:
    """Choose the next token of a line, and write it down."""
    after = None if ruled is None else log_probabilities(ruled)
    barred = course.bars(line.ids) if course.bars else set()
    chosen = line.choose(masked(own if after is None else after, barred))
    line.rows.append(own)
    if after is not None:
        line.changed.append(after)

    def reason(id: int) -> Why:
        if id in barred:
            return "forbidden"
        return "rules" if why == "greedy" and bool(own[id] > own[chosen]) else why

    line.nodes.append(note_step(course.trail, line.nodes[-1], own, chosen, reason))
    line.ids.append(chosen)
