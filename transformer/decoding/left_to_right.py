"""Decoding that never looks back: each step one token, from the step's own distribution."""

from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor

from transformer.decoding.method import Ask, Hypothesis, Model, Search, length_limit
from transformer.finite import log_probabilities

OnToken = Callable[[int, Callable[[], Hypothesis]], object]
"""Told each id as soon as it is written, and how to get the hypothesis up to it, at any time."""


def left_to_right(
    model: Model,
    source: Tensor,
    choose: Callable[[Tensor], int],
    max_len: int | None = None,
    on_token: OnToken | None = None,
) -> Search:
    """source: [1, S]; choose: log_probs [V] -> an id. One hypothesis, scored by log-probability."""
    last = model.first(source)
    ids: list[int] = []
    rows: list[Tensor] = []

    def up_to(n: int) -> Hypothesis:
        log_probs = torch.stack(rows[:n]).cpu()
        return Hypothesis(tuple(ids[:n]), log_probs, float(log_probs[range(n), ids[:n]].sum()))

    for _ in range(length_limit(model, source, max_len)):
        rows.append(log_probabilities((yield Ask(last))[0, -1]))
        ids.append(choose(rows[-1]))
        if on_token is not None:
            on_token(ids[-1], partial(up_to, len(ids)))
        if ids[-1] in model.config.eos_ids:
            break
        last = source.new_tensor([[ids[-1]]])
    return [up_to(len(ids))]
