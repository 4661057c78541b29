"""Faults of a translation, on cases that are judged by hand."""

from pathlib import Path

import pytest

from transformer.training.evaluation.translations import (
    folded,
    german_words,
    invented_words,
    is_lost_half,
    listed_words,
    loop,
    spoken_words,
)

WORDS = ("der", "war", "nicht", "zu", "groß", "u", "bahn", "fährt", "mein", "verkaufte", "wagen")
GERMAN = set(map(folded, WORDS))


@pytest.mark.parametrize(
    ("output", "given", "found"),
    [
        ("Der Stopopopopin war nicht zu groß.", "The trophy was not too big.", ["Stopopopopin"]),
        ("Mein Tefet verkaufte den Wagen", "den", ["Tefet"]),
        ("Headscope war groß", "Headscope was large", []),  # copied from the source
        ("Ada's Wagen", "ADA'S car", []),
        ("Nicht ZU gross!", "", []),  # neither case nor "ß" makes a word
        ("Die U-Bahn fährt", "Die", []),  # each part is known
        ("Die U-Blarg fährt", "Die", ["U-Blarg"]),
        ("U-Bahn-Rom", "Rome-Rom", []),
        ("2962 7:45 , ... 3.50!", "", []),  # nothing here is a word
        ("Blarg blarg", "", ["Blarg", "blarg"]),
        ("", "", []),
    ],
)
def test_invented_words(output: str, given: str, found: list[str]) -> None:
    assert invented_words(output, given, GERMAN) == found


def test_words_that_are_spoken() -> None:
    assert spoken_words("Tom’s 2 U-Bahnen kosten 3.50 Euro, oder?") == [
        *("Tom's", "U-Bahnen", "kosten", "Euro", "oder")
    ]


def test_the_word_list_is_made_of_every_column_but_the_first(tmp_path: Path) -> None:
    for room, line in (
        ("translation_en_de", "English one\tDas Haus\tEin Bau"),
        ("dictionary_en_de", "word\tMark-Brandenburg 12 x2"),
        ("elsewhere", "nothing\tUnsinn"),
    ):
        (tmp_path / room).mkdir()
        (tmp_path / room / "some.tsv").write_text(f"{line}\n{line}\n")
    (tmp_path / "translation_en_de" / "README.md").write_text("x\tRatgeber\n")
    words = {"das", "haus", "ein", "bau", "mark-brandenburg", "mark", "brandenburg", "x2"}
    assert german_words(tmp_path) == words
    assert german_words(tmp_path / "translation_en_de") == {"das", "haus", "ein", "bau"}
    assert german_words(tmp_path / "dictionary_en_de" / "none") == set()


def test_a_list_of_words_is_read_folded_and_may_be_missing(tmp_path: Path) -> None:
    (tmp_path / "ngerman").write_text("Straße\nfrühstückten\n\nU-Bahn\n")
    assert listed_words(tmp_path / "ngerman") == {"strasse", "frühstückten", "u-bahn"}
    assert listed_words(tmp_path / "none") == set()


@pytest.mark.parametrize(
    ("output", "lost"), [("12345", False), ("1234", True), (" 1234 ", True), ("", True)]
)
def test_a_lost_half_is_shorter_than_half(output: str, lost: bool) -> None:
    assert is_lost_half(output, "1234567890\n") is lost


@pytest.mark.parametrize(
    ("output", "source", "repeated"),
    [
        ("Der Stopopopopin war nicht zu groß.", "", "op"),
        ("Wir lernen lernen lernen", "We learn", "lernen"),
        ("Wir lernen Lernen LERNEN", "We learn", "lernen"),
        ("ich bin da, ich bin da, ich bin da, ja", "I am there", "ich bin da,"),
        ("aaaa", "a", "a"),
        ("Die Sonnenenergie", "Solar energy", None),  # "nenene" is German
        ("Schifffahrt", "", None),
        ("lernen lernen", "", None),
        ("1000000 ........", "", None),
        ("Nein, nein, nein, nein!", "No, no, no, no!", None),  # so does the source
        ("", "", None),
    ],
)
def test_loops(output: str, source: str, repeated: str | None) -> None:
    assert loop(output, source) == repeated
