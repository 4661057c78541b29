"""Omissions: words of a source that no written word needs, and which may be left out in it."""

from collections.abc import Iterable, Sequence

from torch import Tensor

from transformer.edits.edit import Edit
from transformer.token import Token
from transformer.words import word_groups, words_of

MOST = 0.15
"""Nats below which no written word misses a word of the source. Below `verdict.LEAST` would lie
many of “the” and “of”, whose work other words do as well."""


def omissions(
    source: Sequence[Token], hidden: Tensor, edits: Iterable[Edit] = ()
) -> tuple[int, ...]:
    """Number the words of the source that cost no written word as much as MOST when hidden.

    hidden: [T, S], in nats. Special tokens and signs are none: a sign is seldom needed, since the
    order of the words says the same. Nor are words that edits in force hide.
    """
    closed = {edit.numbers[0] for edit in edits if edit.name == "hide"}
    words = zip(word_groups(source), words_of(source), hidden.amax(0).tolist(), strict=True)
    return tuple(
        number
        for number, (group, word, cost) in enumerate(words)
        if cost < MOST and number not in closed and not source[group[0]].special
        if any(map(str.isalnum, word))
    )
