"""The sureness of a model about its output."""

from torch import Tensor

from transformer.recording import Recording

EPSILON = 0.1
"""The share of label smoothing, as in the paper."""


def sureness(recording: Recording) -> Tensor:
    """The probability of each token of the target [T], in float64."""
    probs = recording.logits.cpu().double().softmax(-1)  # [T, V]
    ids = [token.id for token in recording.target]
    return probs[range(len(ids)), ids]


def second_least_sure(recording: Recording) -> int:
    """The position that it was second least sure of, or the only one."""
    return int(sureness(recording).argsort()[:2][-1])
