"""Every change keeps the meaning of a pair: what it makes of which pair is written down."""

import random
import re

import pytest

from transformer.training.recipes.en_de_data.noise import (
    CHANGES,
    Change,
    Row,
    american,
    british,
    contracted,
    lower,
    named_anew,
    no_apostrophe,
    no_stop,
    noisy,
    quoted,
    renamed,
    renumbered,
    spelt,
)


def results(change: Change, row: Row) -> set[Row]:
    """All that a change makes of a pair, by forty seeds."""
    return {change(row, random.Random(seed)) for seed in range(40)}


@pytest.mark.parametrize(
    ("change", "row", "expected"),
    [
        (no_stop, ("It rains.", "Es regnet."), {("It rains", "Es regnet")}),
        (no_stop, ("Does it rain?", "Regnet es?"), {("Does it rain", "Regnet es?")}),
        (no_stop, ("!", "!"), {("!", "!")}),
        (lower, ("Is Ann in?", "Da?"), {("is ann in?", "Da?"), ("is Ann in?", "Da?")}),
        (quoted, ("It rains.", "Es regnet."), {('"It rains."', '"Es regnet."')}),
        (quoted, ('Say "no".', "Nein."), {('Say "no".', "Nein.")}),
        (no_apostrophe, ("I don't.", "Nein."), {("I dont.", "Nein.")}),
        (
            contracted,
            ("It is late, I am here.", "x"),
            {("It's late, I'm here.", "x"), ("It is late, I am here.", "x")},
        ),
        (contracted, ("I don't.", "x"), {("I do not.", "x"), ("I don't.", "x")}),
        (contracted, ("So it is.", "x"), {("So it is.", "x")}),
        (
            spelt,
            ("A grey colour.", "x"),
            {("A grey colour.", "x"), ("A gray color.", "x")},
        ),
        (renumbered, ("12, 12 and 3.5", "12 und 3,5"), {("12, 12 and 3.5", "12 und 3,5")}),
        (renamed, ("Tom left.", "Er ging."), {("Tom left.", "Er ging.")}),
    ],
)
def test_what_a_change_makes_of_a_pair(change: Change, row: Row, expected: set[Row]) -> None:
    assert results(change, row) == expected


def test_a_name_that_both_sides_have_once_becomes_an_invented_one() -> None:
    made = results(named_anew, ("Did Hershey visit Oslo?", "Hat Hersheys Mann Oslo besucht?"))
    assert len(made) > 35
    for source, target in made:
        names = re.fullmatch(r"Did ([A-Z][a-z]+) visit ([A-Z][a-z]+)\?", source)
        assert names
        assert target == f"Hat {names[1]}s Mann {names[2]} besucht?"
        assert not {"Hershey", "Oslo"} & set(names.groups())


@pytest.mark.parametrize(
    "row",
    [
        ("Oslo is far.", "Oslo ist weit."),
        ("We left in April.", "Wir gingen im April."),
        ("He saw the Union.", "Er sah die Union."),
        ("He saw Union and Unions.", "Er sah Union."),
        ("We know Munich.", "Wir kennen München."),
        ("Did Tom ask Tom?", "Hat Tom gefragt?"),
    ],
)
def test_what_may_be_no_name_stays(row: Row) -> None:
    assert results(named_anew, row) == {row}


def test_names_change_on_both_sides_alike() -> None:
    changed = results(renamed, ("Tom saw Mary's car in Boston.", "Tom sah Marias Auto in Boston."))
    assert len(changed) > 20
    for source, target in changed:
        man, woman, place = re.fullmatch(r"(\w+) saw (\w+)'s car in (\w+)\.", source).groups()  # type: ignore[union-attr]
        assert target == f"{man} sah {woman}s Auto in {place}."
        assert "Tom" not in source


def test_numbers_change_on_both_sides_alike() -> None:
    for source, target in results(renumbered, ("It is 1984.", "Es ist 1984.")):
        number = source.removeprefix("It is ").removesuffix(".")
        assert target == f"Es ist {number}."
        assert len(number) == 4


def test_every_change_comes_up_and_most_pairs_have_none_of_their_words_changed() -> None:
    rng, row = random.Random(1), ("Don't paint it grey.", "Mal es nicht grau an.")
    made = [noisy(row, rng) for _ in range(400)]
    assert 0.5 < sum(each == row for each in made) / len(made) < 0.95
    assert {change for change, _ in CHANGES} == {
        renamed,
        named_anew,
        renumbered,
        contracted,
        spelt,
        no_apostrophe,
        no_stop,
        quoted,
        lower,
    }
    sources = {source for source, _ in made}
    assert {"Do not paint it grey.", "Don't paint it gray.", "Dont paint it grey."} <= sources
    assert {"Don't paint it grey", "don't paint it grey.", '"Don\'t paint it grey."'} <= sources


@pytest.mark.parametrize(
    ("there", "here"),
    [
        ("the colour of my neighbour's grey tyre", "the color of my neighbor's gray tire"),
        ("Organised travellers apologise", "Organized travelers apologize"),
        ("the theatre centre", "the theater center"),
    ],
)
def test_spellings_across_the_ocean(there: str, here: str) -> None:
    assert american(there) == here
    assert british(here) == there.replace("tyre", "tire")
    assert american(here) == here


@pytest.mark.parametrize("same", ["I tire of it.", "realism", "travel", "my moment", "a crisis"])
def test_words_that_only_look_so_are_left(same: str) -> None:
    assert american(same) == british(same) == same
