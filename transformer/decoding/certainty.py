"""The certainty of each word that a model wrote: its log-probability, ranks and entropy."""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from transformer.recording import Recording


@dataclass(frozen=True)
class Certainty:
    """The certainty of one written word, given all before it."""

    log_prob: float
    """The sum over its pieces, in nats."""
    ranks: tuple[int, ...]
    """Each piece's; all 1: the model wrote the most probable ones."""
    entropy: float
    """The sum over the distributions that its pieces come from, in bits."""


def certainties(recording: Recording) -> list[Certainty]:
    """Return the certainty of each word of the target, in the order of `word_groups`."""
    pieces = certainties_of_pieces(recording)
    return [_together([pieces[i] for i in word.positions]) for word in recording.target_words]


def certainties_of_pieces(recording: Recording) -> list[Certainty]:
    """Return the certainty of each token of the target."""
    ids = [token.id for token in recording.target]
    return [_of_piece(row, id) for row, id in zip(recording.require_logits(), ids, strict=True)]


def _of_piece(logits: Tensor, id: int) -> Certainty:
    """logits [V]. One row after the other: a large vocabulary is not copied for all at once."""
    log_probs = logits.cpu().double().log_softmax(-1)
    entropy = float(torch.special.entr(log_probs.exp()).sum()) / math.log(2)
    return Certainty(float(log_probs[id]), (1 + int((logits > logits[id]).sum()),), entropy)


def _together(pieces: list[Certainty]) -> Certainty:
    return Certainty(
        sum(each.log_prob for each in pieces),
        tuple(rank for each in pieces for rank in each.ranks),
        sum(each.entropy for each in pieces),
    )
