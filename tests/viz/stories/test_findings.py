"""Findings of the gallery about heads: the survey bears them out, and so do other sentences."""

import pytest

from tests.gallery.facts import opened
from tests.gallery.findings import (
    CHECKPOINT,
    CLAIMS,
    LAST,
    PRONOUN,
    left_out,
    looks_back,
    losses,
    pronouns,
)

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


def test_heads_of_the_last_look_stand_in_for_each_other_on_other_sentences() -> None:
    together, *alone = losses(opened(CHECKPOINT), OTHERS, [LAST, *([each] for each in LAST)])
    assert together > 2 * sum(alone)


@pytest.mark.thorough  # a number of the gallery, of many decodings
def test_half_of_the_pronouns_are_others_without_a_head() -> None:
    both = pronouns(opened(CHECKPOINT), PRONOUN)
    assert sum(one != other for one, other in both) == len(both) / 2


def test_the_first_look_is_at_the_word_before_on_other_sentences() -> None:
    n, before, now = looks_back(opened(CHECKPOINT), OTHERS)
    assert n > 20 and before > 0.4 and now < 0.2
