"""The lines between the two rows: from each written word to the source word it looks at most."""

from transformer.causes.looks import looks
from transformer.recording import Recording
from transformer.words import word_groups

LEAST = 0.2
"""The weight from which on a word has a line."""


def aligned(recording: Recording) -> list[tuple[int, int, float]] | None:
    """Return the lines: the first positions of a written word and of a source word, and the weight.

    Weights are those of a word's card: cross-attention of the last layer, the mean of its heads,
    by the rows that write, summed over a source word's pieces and averaged over a written word's.
    A word has no line below LEAST, nor where what is beside the source has more weight than any
    word of it. None: there is no cross-attention, or nothing is written.
    """
    attention = recording.attentions.get("cross")
    n, n_source = len(recording.target), len(recording.source)
    if attention is None or not n or not n_source:
        return None
    if len(attention.keys) < n_source or len(attention.queries) < n:
        return None
    groups, words = word_groups(recording.target), word_groups(recording.source)
    weights, beside = looks(recording, groups)
    assert weights is not None
    most = zip(groups, weights.max(-1).values, weights.argmax(-1), beside, strict=True)
    return [
        (group[0], words[int(word)][0], round(float(weight), 4))
        for group, weight, word, other in most
        if other is None and float(weight) >= LEAST
    ]
