"""Surveys of the stand-ins, which code makes as it makes their weights: no shipped one is read."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from transformer import load_checkpoint
from transformer.corpus.shipped import FOLDER, ShippedSurvey, write_shipped
from transformer.corpus.shipping import Sentences, shipping
from transformer.corpus.surveyed import Estimate
from transformer.fingerprint import fingerprint

LABELLED = "encoder_self", 1, 2
"""A head that has a label: weights that nobody trained play no role."""
ROLE: Mapping[str, Estimate] = {
    "previous": Estimate(0.8, 0.75, 0.85, 40),
    "previous_chance": Estimate(0.2, 0.15, 0.25, 40),
    "previous_above": Estimate(0.75, 0.6875, 0.8125, 40),
}
SURVEYED = {
    "copy": ("3 7 2 9", "4 11 5 8 2 6 9", "9 9 3 3 7", "2 10 8 5", "6 4 4 11 3 2", "5 2 9 7 10"),
    "en-de": (
        "Tom lives in Boston.",
        "What do you want to know?",
        "She lives in a small house.",
    ),
}
"""Checkpoint -> the sentences of its survey."""


def make_surveys(folder: Path) -> None:
    """Write them beside the weights of the stand-ins in a folder."""
    for name, texts in SURVEYED.items():
        checkpoint = load_checkpoint(folder / name, "cpu")
        sentences = Sentences(dict(enumerate(texts, 1)), "Sentences of the golden tests.")
        *_, gathered = shipping(checkpoint, sentences)
        write_shipped(
            folder / name / FOLDER, _labelled(gathered.shipped), fingerprint(folder / name)
        )


def _labelled(shipped: ShippedSurvey) -> ShippedSurvey:
    """One head does what a label is for."""
    heads = tuple(
        replace(each, numbers={**each.numbers, **ROLE})
        if (each.kind, each.layer, each.head) == LABELLED
        else each
        for each in shipped.survey.heads
    )
    return replace(shipped, survey=replace(shipped.survey, heads=heads))
