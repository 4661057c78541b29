"""Decoding that never looks back: each step one token, from the step's own distribution."""

from collections.abc import Callable

import torch
from torch import Tensor

from transformer.decoding.method import Hypothesis, Model, length_limit

OnToken = Callable[[int], None]


def left_to_right(
    model: Model,
    source: Tensor,
    choose: Callable[[Tensor], int],
    max_len: int | None = None,
    on_token: OnToken | None = None,
) -> list[Hypothesis]:
    """source: [1, S]; choose: log_probs [V] -> an id. One hypothesis, scored by log-probability."""
    state, last = model.start(source), model.first(source)
    ids: list[int] = []
    rows: list[Tensor] = []
    for _ in range(length_limit(model, source, max_len)):
        rows.append(model.advance(state, last)[0, -1].float().log_softmax(-1))
        ids.append(choose(rows[-1]))
        if on_token is not None:
            on_token(ids[-1])
        if ids[-1] == model.config.eos_id:
            break
        last = source.new_tensor([[ids[-1]]])
    log_probs = torch.stack(rows).cpu()
    score = float(log_probs[range(len(ids)), ids].sum())
    return [Hypothesis(tuple(ids), log_probs, score)]
