"""Labels: planted heads have theirs and nothing else, random ones next to none."""

import math
from collections import defaultdict

import pytest

from tests.planted import (
    ROLES,
    copying,
    of_planted,
    of_planted_cross,
    of_random,
    of_short_texts,
)
from tests.representatives import MARK
from transformer import NoSuchName, survey
from transformer.corpus.labels import holm, labels, tail
from transformer.corpus.surveyed import Estimate, HeadSummary, Survey, Syntax


def test_planted_heads_have_their_label_and_no_other() -> None:
    of = of_planted()
    assert {role: [label.role for label in some] for role, some in of.items()} == {
        # Random weights look at all keys alike, too: that is a number, and no label.
        role: [] if role == "uniform" else [role]
        for role in ROLES
    }
    for (label,) in filter(None, of.values()):
        assert label.baseline < 0.25 < 0.85 < label.low <= label.score <= label.high
        assert label.p < 1e-6 and label.n_sentences > 100


def test_planted_heads_of_cross_attention_have_theirs() -> None:
    """One looks at the token that it has read, one at that which it writes: both align."""
    of = of_planted_cross(60)
    assert {role: {label.role for label in some} for role, some in of.items()} == {
        "aligns_read": {"alignment", "aligns_read"},
        "aligns_written": {"alignment", "aligns_written"},
        "uniform": set(),
        **{role: {role} for role in ("first", "end", "rare")},
    }
    assert all(it.p < 0.01 and it.n_sentences == 60 for some in of.values() for it in some)


def test_a_head_that_copies_by_its_values_is_told_from_random_ones() -> None:
    scores = copying()
    assert scores["copies"] == pytest.approx(1) and scores["takes away"] == pytest.approx(-1)
    assert scores["random"] < 0.5


@MARK
def test_random_heads_have_next_to_none() -> None:
    heads = defaultdict[str, list[bool]](list)
    for name, of in of_random():
        heads[name] += map(bool, of.values())
    assert len(heads) == 12 and all(len(each) >= 24 for each in heads.values())
    assert {name: each for name, each in heads.items() if sum(each) > 0.05 * len(each)} == {}


def test_a_survey_that_is_too_small_for_labels_says_so() -> None:
    small = survey("en-de-small", ["It rains.", "It snows."])
    with pytest.warns(UserWarning, match="20"):
        every = labels(small)
    assert len(every) == len(small.heads) and not any(every.values())
    with pytest.raises(NoSuchName):
        small.heads[0].numbers["entrpy"]


def head(above: Estimate, **others: Estimate) -> HeadSummary:
    score, chance = Estimate(0.5, 0.4, 0.6, 40), Estimate(0.1, 0.1, 0.1, 40)
    numbers = {"same": score, "same_chance": chance, "same_above": above, **others}
    return HeadSummary("encoder_self", 0, 0, numbers, (), (), ())


@pytest.mark.parametrize(
    ("above", "is_one"),
    [
        (Estimate(0.4, 0.35, 0.45, 40), True),
        (Estimate(0.4, 0.19, 0.61, 40), False),  # the interval reaches below a fifth
        (Estimate(0.4, 0.35, 0.45, 19), False),  # too few sentences
        (Estimate(0.4, None, None, 40), False),
    ],
)
def test_a_label_needs_interval_and_sentences(above: Estimate, is_one: bool) -> None:
    (some,) = labels(Survey(40, (head(above),))).values()
    assert [label.role for label in some] == (["same"] if is_one else [])


def test_the_more_heads_are_asked_the_less_is_said() -> None:
    """One head alone passes with p = .02; among fifty that do nothing it does not."""
    close = head(Estimate(0.45, 0.21, 0.69, 40))
    nothing = head(Estimate(0.0, -0.1, 0.1, 40))
    assert labels(Survey(40, (close,)))["encoder_self", 0, 0]
    of_all = [close, *[nothing] * 50]
    placed = [HeadSummary("a", 0, at, each.numbers, (), (), ()) for at, each in enumerate(of_all)]
    assert not any(labels(Survey(40, tuple(placed))).values())


def test_a_relation_is_held_against_the_best_offset() -> None:
    def found(accuracy: float) -> list[str]:
        syntax = Syntax(accuracy, accuracy - 0.03, accuracy + 0.03, "to head", 400, 1, 0.6, 300)
        one = HeadSummary("encoder_self", 0, 0, {}, (), (), (), {"det": syntax})
        (some,) = labels(Survey(300, (one,))).values()
        return [label.title for label in some]

    assert found(0.8) == ["det, to head"]
    assert found(0.65) == []


def test_relations_that_are_left_out_are_tests_too() -> None:
    """A shipped survey has those alone that are found more often than by the best offset."""
    syntax = Syntax(0.7, 0.645, 0.755, "to head", 400, 1, 0.6, 300)
    heads = [
        HeadSummary("encoder_self", 0, at, {}, (), (), (), {"det": syntax} if not at else {})
        for at in range(40)
    ]
    assert labels(Survey(300, tuple(heads[:1])))["encoder_self", 0, 0]
    assert not labels(Survey(300, tuple(heads)))["encoder_self", 0, 0]


def test_corrected_probabilities() -> None:
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert holm([]) == []
    two_errors = Estimate(0.2 + 0.1, 0.3 - 0.0979982, 0.3 + 0.0979982, 9)
    assert tail(two_errors, 0.2) == pytest.approx(0.5 * math.erfc(2 / math.sqrt(2)), rel=1e-4)
    assert tail(Estimate(0.3, 0.3, 0.3, 9), 0.2) == 0 and tail(Estimate(0.1, 0.1, 0.1, 9), 0.2) == 1


@pytest.mark.thorough
def test_short_texts_label_at_most_one_random_head_in_twenty() -> None:
    """There a head that looks at all keys alike has half of the weight on the first one."""
    of = of_short_texts()
    assert len(of) == 144 and sum(map(bool, of.values())) / len(of) <= 0.05
