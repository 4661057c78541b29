"""The smallest change is one place of what the decoding in use writes, and nothing else."""

from pathlib import Path

import pytest

from tests.conftest import random_checkpoint
from tests.transformer.recording.test_families import CONFIGS
from transformer import Checkpoint, InputError, decode, load_checkpoint
from transformer.causes.change import (
    MOST_DECODED,
    Carriers,
    Difference,
    difference,
    searching_change,
    smallest_change,
)
from transformer.edits import Edit

ANIMAL = "The animal didn't cross the street because it was too tired."
DOGS = "He has two small dogs and a big black cat."
CARRIERS = Carriers(
    "de",
    tuple(
        tuple(Edit("head-off", "cross", head) for head in group)
        for group in [((1, 7),), ((1, 7), (2, 7)), ((1, 7), (2, 2), (2, 7))]
    ),
)


@pytest.fixture(scope="module")
def checkpoint() -> Checkpoint:
    return load_checkpoint(Path("checkpoints") / "en-de")


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("Das ist nicht gut.", "Das ist gut.", Difference("negation", "nicht", "")),
        ("Ich mag kein Eis.", "Ich mag ein Eis.", Difference("negation", "kein", "ein")),
        (
            "Er lebt nicht gern hier.",
            "Er lebt gerne hier.",
            Difference("negation", "nicht", "gerne"),
        ),
        ("Das ist nicht gut.", "Das ist kein gutes.", None),  # it says so in other words
        ("Zwei kleine Hunde.", "Zwei Hunde.", Difference("word", "kleine", "")),
        ("Das fühlt sich gut an.", "Das fühlt gut an.", None),  # it is broken
        ("Kleine Hunde bellen.", "Hunde bellen.", Difference("word", "Kleine", "")),
        ("Es sind 100 Euro.", "Es sind 1000 Euro.", Difference("number", "100", "1000")),
        ("Der alte Mann.", "Der kleine Mann.", None),  # another word
        ("Er ist alt, müde.", "Er ist alt müde.", None),  # a sign
        ("Er kam gestern.", "Gestern kam er.", None),  # another order
        ("Zwei kleine Hunde, große Katzen.", "Zwei Hunde, Katzen.", None),  # two places
        ("Das ist gut.", "Das ist nicht gut.", None),  # a word that comes
        ("Das ist gut.", "Das ist gut.", None),
    ],
)
def test_only_one_place_that_is_seen_at_once_counts(
    before: str, after: str, expected: Difference | None
) -> None:
    assert difference(before, after, "de") == expected


def test_without_a_language_a_negation_is_a_word() -> None:
    assert difference("Das ist nicht gut.", "Das ist gut.") == Difference("word", "nicht", "")
    assert difference("Kein Auto.", "Ein Auto.") is None
    assert difference("Das fühlt sich gut an.", "Das fühlt gut an.") is not None


def test_known_carriers_need_no_forced_pass(checkpoint: Checkpoint) -> None:
    plain = decode(checkpoint, ANIMAL, method="beam")
    *_, last = searching_change(checkpoint, ANIMAL, plain, "beam", {}, CARRIERS)
    assert (last.n_scored, last.n_decoded) == (0, 2) and last.change is not None
    assert last.change.heads == CARRIERS.groups[1] and last.change.is_known
    assert last.change.difference == Difference("negation", "nicht", "")
    again = decode(checkpoint, ANIMAL, method="beam", edits=last.change.heads)
    assert again.text == last.change.text
    assert difference(plain.text, again.text, "de") == last.change.difference


def test_a_lost_word_is_found_by_forced_passes(checkpoint: Checkpoint) -> None:
    plain = decode(checkpoint, DOGS, method="beam")
    values = [*searching_change(checkpoint, DOGS, plain, "beam", {}, CARRIERS)]
    last = values[-1]
    assert last.change is not None and not last.change.is_known
    assert last.change.difference == Difference("word", "kleine", "")
    assert last.n_scored > 24 and last.n_decoded <= MOST_DECODED
    assert all(each.change is None for each in values[:-1])


def test_the_decoding_in_use_is_what_counts(checkpoint: Checkpoint) -> None:
    """A forced word that no head makes: every text has it, so that it is never lost."""
    forced = {"force": ("kleine",)}
    plain = decode(checkpoint, DOGS, method="beam", **forced)
    *_, last = searching_change(checkpoint, DOGS, plain, "beam", forced)
    assert last.change is None or "kleine" in last.change.text


def test_others_have_the_device_between_passes(checkpoint: Checkpoint) -> None:
    """What ends a step ends the search."""

    class Ended(Exception):
        pass

    calls = iter(range(3))

    def on_step() -> None:
        if next(calls, None) is None:
            raise Ended

    plain = decode(checkpoint, DOGS, method="beam")
    with pytest.raises(Ended):
        [*searching_change(checkpoint, DOGS, plain, "beam", on_step=on_step)]


@pytest.mark.parametrize("name", ["gpt2", "former-classifier"])
def test_what_has_no_cross_attention_is_refused(name: str) -> None:
    with pytest.raises(InputError):
        smallest_change(random_checkpoint(CONFIGS[name]), "1 2 3", "greedy")
