"""Findings of the gallery about heads: the survey bears them out, and so do other sentences."""

import pytest

from tests.gallery.facts import opened
from tests.gallery.findings import CHECKPOINT, CLAIMS, TWINS, left_out, looks_back, losses

OTHERS = (
    "The old woman gave the boy a red apple.",
    "We will not go to the party tomorrow.",
    "Nobody knows where he bought that house.",
    "My brother plays football every day.",
)
"""Sentences that no survey has."""


def test_texts_have_the_figures_of_the_survey() -> None:
    assert [*left_out()] == []


@pytest.mark.parametrize("name", CLAIMS)
def test_the_survey_bears_out(name: str) -> None:
    assert CLAIMS[name]()


def test_twins_stand_in_for_each_other_on_other_sentences() -> None:
    together, *alone = losses(opened(CHECKPOINT), OTHERS, [TWINS, *([each] for each in TWINS)])
    assert together > 3 * sum(alone)


def test_the_first_look_is_at_the_word_before_on_other_sentences() -> None:
    n, before, now = looks_back(opened(CHECKPOINT), OTHERS)
    assert n > 20 and before > 0.4 and now < 0.2
