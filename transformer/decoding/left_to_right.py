"""Decoding that never looks back: each step one token, from the step's own distribution."""

from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor

from transformer.decoding.method import (
    Ask,
    Hypothesis,
    Model,
    Search,
    length_limit,
    ruled,
    rules_of,
)
from transformer.finite import log_probabilities
from transformer.inputs import InputError

OnToken = Callable[[int, Callable[[], Hypothesis]], object]
"""Told each id as soon as it is written, and how to get the hypothesis up to it, at any time."""


def left_to_right(
    model: Model,
    source: Tensor,
    choose: Callable[[Tensor], int],
    max_len: int | None = None,
    on_token: OnToken | None = None,
) -> Search:
    """source: [1, S]; choose: log_probs [V] -> an id. One hypothesis, scored by log-probability.

    What the model cannot go on after ends it, if something was written.
    """
    last = model.first(source)
    ids: list[int] = []
    rows: list[Tensor] = []
    changed: list[Tensor] = []
    limit = length_limit(model, source, max_len)
    rules = rules_of(model, source, limit)

    def up_to(n: int, error: Exception | None = None) -> Hypothesis:
        log_probs = torch.stack(rows[:n]).cpu()
        after = torch.stack(changed[:n]).cpu() if changed else None
        score = float(log_probs[range(n), ids[:n]].sum())
        return Hypothesis(tuple(ids[:n]), log_probs, score, after, error)

    for _ in range(limit):
        try:
            scores = (yield Ask(last))[:, -1]
            own = log_probabilities(scores[0])
            if rules is not None:
                scores = ruled(rules, source.new_tensor([ids], dtype=torch.long), scores)
        except InputError as error:
            if not ids:
                raise
            return [up_to(len(ids), error)]
        rows.append(own)
        if rules is not None:
            changed.append(log_probabilities(scores[0]))
        ids.append(choose(changed[-1] if changed else own))
        if on_token is not None:
            on_token(ids[-1], partial(up_to, len(ids)))
        if ids[-1] in model.config.eos_ids:
            break
        last = source.new_tensor([[ids[-1]]])
    return [up_to(len(ids))]
