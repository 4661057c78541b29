"""One sentence per cell: true of every kind, lens and reading, and the same words everywhere."""

import re
from dataclasses import replace

import pytest

from tests.random_maps import random_map
from transformer.analysis.reading import AttentionMap, Reading, lenses
from transformer.token import Token
from viz.sentence import Wording, amount, sentence, weight_wording, wording

TIER, ANIMAL = Token(1, "▁Tier"), Token(2, "▁animal")


def said(words: Wording, value: float = 0.99841) -> str:
    return sentence(words, TIER, ANIMAL, 2, 3, value)


def through(lens: str, kind: str = "cross") -> AttentionMap:
    return replace(random_map(1, 1, 3, 3 + (kind == "cross"), kind), lens=lenses()[lens])


KINDS = {
    "cross": "While writing Tier, head 3 of layer 2 looks at animal (0.998).",
    "encoder_self": "Tier looks at animal in head 3 of layer 2 (0.998).",
    "decoder_self": "After reading Tier, head 3 of layer 2 looks at animal (0.998).",
}


@pytest.mark.parametrize(("kind", "expected"), KINDS.items())
def test_each_kind(kind: str, expected: str) -> None:
    assert said(wording(through("weight", kind))) == expected


def test_a_row_may_be_named_by_what_was_read() -> None:
    map = random_map(1, 1, 3, 4, "cross", reading=Reading(rows="read"))
    assert said(wording(map)) == "After reading Tier, head 3 of layer 2 looks at animal (0.998)."


def test_a_masked_cell_has_no_weight() -> None:
    cross, own = (wording(through("weight", kind)) for kind in ("cross", "encoder_self"))
    masked = "While writing Tier, head 3 of layer 2 may not look at animal (masked)."
    assert said(cross, float("nan")) == masked
    assert said(own, float("nan")) == "Tier may not look at animal in head 3 of layer 2 (masked)."


def test_a_mean_is_not_the_weight_of_a_head() -> None:
    words = weight_wording("cross", is_produced=True, is_mean=True)
    mean = "While writing Tier, the heads of layer 2 look at animal (0.410 on average)."
    assert said(words, 0.41) == mean


def test_what_was_divided_is_said() -> None:
    reading = Reading(words=True, special="renormalised")
    words = wording(random_map(1, 1, 3, 4, "cross", reading=reading))
    assert said(words).endswith("looks at animal (0.998, renormalised).")


@pytest.mark.parametrize("name", [name for name, lens in lenses().items() if not lens.is_weights])
@pytest.mark.parametrize("kind", KINDS)
def test_another_measure_is_never_called_a_look(name: str, kind: str) -> None:
    lens = lenses()[name]
    for value in (-2.0, float("nan")):
        told = said(wording(through(name, kind)), value)
        assert "look" not in told and lens.title.lower() in told.lower()
        assert ("head 3" in told) == lens.per_head
        assert ("layer 2" in told) != lens.of_output
        amount = "−2.000 nats" if lens.of_output else "−2.000"
        assert told.endswith("is masked." if value != -2 else f"is {amount}.")


def test_a_piece_is_data() -> None:
    odd = sentence(wording(through("weight")), Token(1, "{value}"), Token(2, "<b>"), 0, 0, 0.5)
    assert odd == "While writing {value}, head 0 of layer 0 looks at <b> (0.500)."


def test_numbers_are_those_of_the_browser() -> None:
    """The same cases as in scripts/sentence.test.mjs."""
    numbers = [0.0, -0.0, 1.0, 0.0625, 0.0004999, -0.0001, -2.3456]
    written = ["0", "0", "1.000", "0.063", "below 0.001", "above −0.001", "−2.346"]
    assert [amount(number) for number in numbers] == written


@pytest.mark.parametrize("words", [wording(through("weight")), weight_wording("cross")])
def test_only_known_places_are_named(words: Wording) -> None:
    places = set(re.findall(r"\{(\w+)\}", words.seen + words.masked))
    assert places == {"row", "column", "layer", "head", "value"}
