"""Findings of the gallery about many sentences: what the shipped survey says of them now.

The survey of new weights says other figures: `python -m tests.gallery` prints those that a text
lacks. `python -m tests.gallery --data DIR` measures anew what is said of other sentences.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path

import torch

from tests.gallery.corpus import things
from tests.gallery.facts import opened
from transformer import decode, record
from transformer.analysis.scored import Output, scored
from transformer.checkpoint import Checkpoint, shipped_path
from transformer.corpus.labels import Atlas
from transformer.corpus.shipped import Place, shipped_survey
from transformer.edits import Edit
from transformer.edits import parse as parse_edit
from viz.stories.reading import shipped_stories

STORY, CHECKPOINT = "worth-of-heads", "en-de"
ENCODER, DECODER, CROSS = "encoder_self", "decoder_self", "cross"
BACK, ALIGNER = (CROSS, 0, 6), (CROSS, 2, 3)
LAST: tuple[Place, ...] = tuple((CROSS, 2, head) for head in range(8))
EARLIER, LATER = (ENCODER, 0, 4), (ENCODER, 2, 6)
"""Two that look at the word before."""
PRONOUN = (DECODER, 2, 3)
FIRST, N_OTHERS = 1000, 150
"""Lines of Tatoeba's test file, which no survey has."""


@cache
def atlas() -> Atlas:
    """The survey of the checkpoint."""
    shipped = shipped_survey(shipped_path(CHECKPOINT))
    assert shipped is not None
    return Atlas(shipped)


def worth(place: Place) -> float:
    """What is lost without a head, in nats per token."""
    return atlas().shipped.worth[place].mean


def previous(place: Place) -> float:
    """Its weight on the token before the query's."""
    return atlas().heads[place].numbers["previous"].mean


def _layer(of: Place) -> list[Place]:
    return [place for place in atlas().heads if place[:2] == of[:2] and place != of]


def _order(*kinds: str) -> list[Place]:
    """Heads of these kinds, those that are worth most first."""
    return sorted((each for each in atlas().heads if each[0] in kinds), key=worth, reverse=True)


Figures = tuple[Callable[[], float], ...]
FIGURES: Mapping[str, Figures] = {
    "The first look at the source looks back": (
        lambda: worth(BACK),
        lambda: max(map(worth, _layer(BACK))),
    ),
    "The last look has many eyes": (
        lambda: min(map(worth, LAST)),
        lambda: max(map(worth, LAST)),
    ),
    "The word before, twice": (
        lambda: previous(EARLIER),
        lambda: previous(LATER),
        lambda: worth(EARLIER),
        lambda: worth(LATER),
    ),
    "Worth little, but half of the pronouns": (lambda: worth(PRONOUN),),
}
"""Heading of a scene -> the figures of its text that the survey says."""
CLAIMS: Mapping[str, Callable[[], bool]] = {
    "one head of the first look": lambda: worth(BACK) > 10 * max(map(worth, _layer(BACK))),
    "nine heads are worth most": lambda: set(_order(ENCODER, DECODER, CROSS)[:9]) == {BACK, *LAST},
    "the later is worth most of the encoder": lambda: _order(ENCODER)[0] == LATER,
    "nearly three times": lambda: 2.7 < worth(LATER) / worth(EARLIER) < 3,
    "four of the decoder are worth more": lambda: _order(DECODER).index(PRONOUN) == 4,
}
"""Claims in words -> whether the survey bears them out."""


def left_out() -> Iterator[str]:
    """Say each figure that a text lacks, and each claim that no longer holds."""
    texts = {scene.heading: scene.text for scene in shipped_stories()[STORY].scenes}
    for heading, figures in FIGURES.items():
        for figure in figures:
            if f"{figure():.3f}" not in texts[heading]:
                yield f"{STORY}.md, {heading}: the survey says {figure():.3f}"
    yield from (f"{STORY}.md: no longer: {name}" for name, holds in CLAIMS.items() if not holds())


def losses(
    checkpoint: Checkpoint, texts: Sequence[str], groups: Sequence[Sequence[Place]]
) -> list[float]:
    """The mean loss of log-probability of a token of the greedy output, with each group off."""
    edits = [
        tuple(parse_edit(f"head-off:{kind}.{layer}.{head}") for kind, layer, head in group)
        for group in ((), *groups)
    ]
    of_texts = []
    for text in texts:
        target = decode(checkpoint, text, method="greedy").target
        parts = scored(checkpoint, Output(text, target, target), edits)
        log_probs = torch.cat([part.log_probs for part in parts])
        of_texts.append((log_probs[0] - log_probs[1:]).mean(-1))
    return torch.stack(of_texts).mean(0).tolist()


def looks_back(checkpoint: Checkpoint, texts: Sequence[str]) -> tuple[int, float, float]:
    """Count rows, and the shares that look where the aligner looked a word before, or looks now."""
    n, before, now = 0, 0, 0
    (_, first, head), (_, second, aligner) = BACK, ALIGNER
    for text in texts:
        target = decode(checkpoint, text, method="greedy").target
        attention = record(checkpoint, text, target).attentions[CROSS]
        keys = attention.weights(second)[aligner].argmax(-1)[:-1]  # without the end's row
        own = attention.weights(first)[head].argmax(-1)[1 : len(keys)]
        n += len(own)
        before += int((own == keys[:-1]).sum())
        now += int((own == keys[1:]).sum())
    return n, before / n, now / n


def pronouns(checkpoint: Checkpoint, head: Place) -> list[tuple[str, str]]:
    """The pronoun of each of the gallery's sentences with two things: as it is, and without it."""
    kind, layer, number = head
    off = (parse_edit(f"head-off:{kind}.{layer}.{number}"),)

    def pronoun(text: str, edits: tuple[Edit, ...]) -> str:
        words = decode(checkpoint, text, method="greedy", edits=edits).text.split()
        return words[words.index("weil") + 1]

    return [(pronoun(text, ()), pronoun(text, off)) for text, _ in things()]


def outside(data: Path) -> None:
    """Print what the scenes say of sentences that the survey lacks."""
    checkpoint, file = opened(CHECKPOINT), data / "translation_en_de" / "test.tatoeba.tsv"
    lines = file.read_text(encoding="utf-8").splitlines()[FIRST : FIRST + N_OTHERS]
    texts = [line.split("\t")[0] for line in lines]
    for name, group in (("last look", LAST), ("word before", (EARLIER, LATER))):
        together, *alone = losses(checkpoint, texts, [group, *([place] for place in group)])
        said = ", ".join(f"{loss:.3f}" for loss in alone)
        print(f"\n{STORY}: {name} together {together:.3f}, sum {sum(alone):.3f} of {said}")
    for place in (PRONOUN, *_layer(PRONOUN)):
        both = pronouns(checkpoint, place)
        others = [f"{one} {other}" for one, other in both if one != other]
        print(f"  without L{place[1]} H{place[2]}: {len(others)} of {len(both)}: {others}")
    n, before, now = looks_back(checkpoint, texts)
    print(f"  {n:,} rows look back {before:.0%}, at the word that is written {now:.0%}")
