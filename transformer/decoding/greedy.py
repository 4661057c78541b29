"""Greedy decoding: at each step the most probable token."""

import torch
from torch import Tensor

from transformer.decoding.method import Hypothesis, Method, Model, length_limit


def greedy(model: Model, source: Tensor, max_len: int | None = None) -> list[Hypothesis]:
    """source: [1, S] -> one hypothesis; its score is its log-probability."""
    config = model.config
    state = model.start(source)
    ids, rows = [config.bos_id], []
    for _ in range(length_limit(config, source, max_len)):
        logits = model.advance(state, source.new_tensor([[ids[-1]]]))
        rows.append(logits[0, -1].float().log_softmax(-1))
        ids.append(int(rows[-1].argmax()))
        if ids[-1] == config.eos_id:
            break
    log_probs = torch.stack(rows).cpu()
    target = tuple(ids[1:])
    score = float(log_probs[range(len(target)), target].sum())
    return [Hypothesis(target, log_probs, score)]


METHOD = Method(name="greedy", title="Greedy", run=greedy)
