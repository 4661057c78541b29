"""The last layer's weights as a word is written: on words of the source, and on what is beside."""

from collections.abc import Sequence
from functools import partial

import torch
from torch import Tensor

from transformer.recording import Recording
from transformer.words import word_groups, words_of


def looks(
    plain: Recording, words: Sequence[Sequence[int]]
) -> tuple[Tensor | None, tuple[str | None, ...]]:
    """Compute `Evidence.weights` [T, S] and `Evidence.beside`, by the rows that write.

    words: the positions of each of the T written words.
    """
    attention = plain.attentions.get("cross") or plain.attentions.get("decoder_self")
    n, n_source = len(plain.target), len(plain.source)
    if attention is None or not n:
        return None, ()
    pieces = attention.weights(attention.n_layers - 1).mean(0).cpu().double()[-n:]  # [P, K]
    rows = torch.stack([pieces[list(group)].mean(0) for group in words])  # [T, K]
    groups = word_groups(attention.keys[n_source:])
    others = [tuple(n_source + i for i in group) for group in groups]
    columns = [rows[:, list(group)].sum(-1) for group in (*word_groups(plain.source), *others)]
    n_words = len(columns) - len(others)
    weights, beside = torch.stack(columns, -1).split([n_words, len(others)], -1)
    names = words_of(attention.keys[n_source:])
    return weights, tuple(map(partial(_beside, names), weights, beside))


def _beside(names: Sequence[str], weights: Tensor, others: Tensor) -> str | None:
    """Name what has more weight than any word of the source, as `Evidence.beside` has it."""
    most = float(weights.max())
    if len(others) and float(others.max()) > most:
        return names[int(others.argmax())]
    return None if most > 0 else ""
