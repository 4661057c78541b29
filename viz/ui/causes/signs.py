"""From the evidence to what stands over the tokens, and to what a picture's sentence says of it."""

from itertools import chain
from operator import itemgetter

from transformer.causes import Evidence
from transformer.causes.verdict import LEAST
from transformer.recording import Recording
from transformer.visible import visible
from transformer.words import word_groups
from viz.components.token_rows.signs import Mark, Signs, Worth
from viz.labels import number

PARTED = ("moved by the encoder", "held by the prefix")
"""Verdicts on words that look at another word than they need."""


def signs_of(recording: Recording, evidence: Evidence) -> Signs:
    """Words that look at another word than they need, at their last token; words of the source that
    no written word needs; and what each of the source is worth to each written one.
    """
    pairs = zip(word_groups(recording.target), evidence.verdicts, strict=True)
    parted = [
        ("target", group[-1], "parted", visible(it.text))
        for group, it in pairs
        if it.kind in PARTED
    ]
    groups = word_groups(recording.source)
    unneeded: list[Mark] = [
        ("source", place, "unneeded", _unneeded(evidence, word))
        for word in evidence.omissions
        for place in groups[word]
    ]
    return Signs(parted + unneeded, _worth(recording, evidence))


def _worth(recording: Recording, evidence: Evidence) -> Worth | None:
    """None where nothing is written, as by a classifier: no row of a picture writes a word."""
    if evidence.prefix is None:
        return None
    sides = {"source": evidence.source_words, "target": evidence.target_words}
    tokens = {"source": recording.source, "target": recording.target}
    return Worth(
        words={side: [visible(word).strip() for word in words] for side, words in sides.items()},
        word_at={side: _numbers(word_groups(each)) for side, each in tokens.items()},
        nats=[[round(cost, 2) for cost in row] for row in evidence.hidden.tolist()],
        least=LEAST,
    )


def _numbers(groups: tuple[tuple[int, ...], ...]) -> list[int]:
    """The number of the word at each position, of which every one is in one word."""
    places = chain.from_iterable(((at, i) for at in group) for i, group in enumerate(groups))
    return [i for _, i in sorted(places, key=itemgetter(0))]


def _unneeded(evidence: Evidence, word: int) -> str:
    most = max(0.0, float(evidence.hidden[:, word].max()))
    own = visible(evidence.source_words[word])
    return f"No written word needs “{own}”: hiding it costs each {number(most)} nats at most."
