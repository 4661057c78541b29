"""Forced decoding: the target is given, the model says how probable each of its tokens is."""

import torch
from torch import Tensor

from transformer.decoding.course import Course, note_step
from transformer.decoding.method import Ask, Hypothesis, Method, Model, Search
from transformer.finite import log_probabilities


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
