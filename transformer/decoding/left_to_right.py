"""Decoding that never looks back: each step one token, from the step's own distribution."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial

import torch
from torch import Tensor

from transformer.decoding.course import Course, masked, note_step
from transformer.decoding.method import (
    Ask,
    Hypothesis,
    Model,
    Rules,
    Search,
    length_limit,
    ruled,
    rules_of,
)
from transformer.decoding.search_tree import Why
from transformer.finite import log_probabilities
from transformer.inputs import InputError

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
