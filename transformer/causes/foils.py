"""The output that is judged: what is written, beside the next most probable token of each place."""

from collections.abc import Sequence
from dataclasses import replace

import torch

from transformer.analysis.outputs.output import Output, output_of, output_read
from transformer.checkpoint import Checkpoint
from transformer.recording import Recording
from transformer.token import Token
from transformer.words import word_groups

MOST_FOILS = 50
"""Tokens of a place among which its runner-up is."""
_BEFORE = Token(-1, "a")


def output_beside(checkpoint: Checkpoint, text: str, plain: Recording) -> Output:
    """Find what is judged: of a target with the most probable other token of each place."""
    if not plain.target:
        return output_read(checkpoint, text, plain)
    output = output_of(checkpoint, text, plain.target)
    others = plain.logits.float().cpu().clone()
    others[range(len(plain.target)), [token.id for token in plain.target]] = -torch.inf
    best = others.topk(min(MOST_FOILS, others.shape[-1]), dim=-1).indices.tolist()
    token = checkpoint.tokenizer.token
    pairs = zip(plain.target, best, strict=True)
    return replace(output, foils=tuple(_foil(own, list(map(token, ids))) for own, ids in pairs))


def _foil(own: Token, others: Sequence[Token]) -> Token:
    """Take the first one that begins a word as its own does, or goes on with one: else the first.

    "Das" behind a word is no other word than "Das" by itself, and would be none at all.
    """
    return next((each for each in others if _goes_on(each) == _goes_on(own)), others[0])


def _goes_on(token: Token) -> bool:
    """Tell whether a token goes on with a word that is before it."""
    return len(word_groups((_BEFORE, token))) == 1
