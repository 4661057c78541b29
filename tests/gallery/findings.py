"""Findings of the gallery about many sentences: what the shipped survey says of them now.

The survey of new weights says other figures: `python -m tests.gallery` prints those that a text
lacks. `python -m tests.gallery --data DIR` measures anew what is said of other sentences.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, partial
from pathlib import Path

import torch

from tests.gallery.facts import opened
from transformer import decode, record
from transformer.analysis.scored import Output, scored
from transformer.checkpoint import Checkpoint, shipped_path
from transformer.corpus.atlas import Atlas, Place
from transformer.corpus.shipped import shipped_survey
from transformer.edits import parse as parse_edit
from viz.stories.shipped import shipped_stories

STORY, CHECKPOINT = "worth-of-heads", "en-de"
ENCODER, DECODER, CROSS = "encoder_self", "decoder_self", "cross"
TWINS = tuple((ENCODER, 0, head) for head in (0, 1, 2, 3, 5))
BACK, ALONE = (CROSS, 0, 6), (ENCODER, 0, 7)
ALIGNER = (CROSS, 2, 3)
THREE: tuple[Place, ...] = ((DECODER, 1, 4), (DECODER, 2, 4), (DECODER, 2, 6))
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


def same(place: Place) -> float:
    """Its weight on the query's own token."""
    return atlas().heads[place].numbers["same"].mean


def _layer(of: Place) -> list[Place]:
    return [place for place in atlas().heads if place[:2] == of[:2] and place != of]


Figures = tuple[Callable[[], float], ...]
FIGURES: Mapping[str, Figures] = {
    "The first look at the source looks back": (
        lambda: worth(BACK),
        lambda: max(map(worth, _layer(BACK))),
    ),
    "Five twins that stand in for each other": (lambda: max(map(worth, TWINS)),),
    "The same look, nine times the worth": (lambda: worth(ALONE),),
    "Two heads that only look at themselves": tuple(partial(worth, each) for each in THREE),
}
"""Heading of a scene -> the figures of its text that the survey says, in nats per token."""
CLAIMS: Mapping[str, Callable[[], bool]] = {
    "one head of the first look": lambda: worth(BACK) > 10 * max(map(worth, _layer(BACK))),
    "twins look at themselves": lambda: min(map(same, TWINS)) >= 0.815,
    "one is worth nine twins": lambda: worth(ALONE) > 8.5 * max(map(worth, TWINS)),
    "it looks as they do": lambda: same(ALONE) > 0.9,
    "three of the decoder": lambda: (
        set(sorted((each for each in atlas().heads if each[0] == DECODER), key=worth)[-3:])
        == set(THREE)
    ),
    "two of them look at themselves": lambda: min(map(same, THREE[:2])) > 0.9,
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


def outside(data: Path) -> None:
    """Print what the scenes say of sentences that the survey lacks."""
    checkpoint, file = opened(CHECKPOINT), data / "translation_en_de" / "test.tatoeba.tsv"
    lines = file.read_text(encoding="utf-8").splitlines()[FIRST : FIRST + N_OTHERS]
    texts = [line.split("\t")[0] for line in lines]
    decoder = [place for place in atlas().heads if place[0] == DECODER]
    groups = [TWINS, *([place] for place in (*TWINS, *decoder))]
    together, *alone = losses(checkpoint, texts, groups)
    singly, of_decoder = alone[: len(TWINS)], alone[len(TWINS) :]
    print(f"\n{STORY}: twins together {together:.3f}, sum of each alone {sum(singly):.3f}")
    best = sorted(zip(of_decoder, decoder, strict=True), reverse=True)[:3]
    print("  decoder:", ", ".join(f"L{place[1]} H{place[2]} {loss:.3f}" for loss, place in best))
    n, before, now = looks_back(checkpoint, texts)
    print(f"  {n:,} rows look back {before:.0%}, at the word that is written {now:.0%}")
