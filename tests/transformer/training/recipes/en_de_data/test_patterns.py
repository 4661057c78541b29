"""What agrees with a noun agrees whichever noun fills the gap, and no test sentence is made."""

from itertools import islice
from pathlib import Path

from transformer.training.evaluation.stage import stage_pairs
from transformer.training.recipes.en_de_data.mixture import (
    NO_NOUN,
    NOUNS,
    PATTERNS,
    Noun,
    Patterns,
    nouns,
)
from transformer.training.recipes.en_de_data.substitution import GENDERS, Word
from transformer.training.translation import key


def noun(english: str, german: str, gender: str, *kinds: str) -> Noun:
    return Noun(english, german, gender, (f"{english}s", f"{german}n"), frozenset(kinds))


OWL = noun("owl", "Eule", "feminine", "animal")
PENGUIN = noun("penguin", "Pinguin", "masculine", "animal")
BOX = noun("box", "Boot", "neuter", "thing")


def dealt(tmp_path: Path, pattern: str, *nouns: Noun, n: int = 40) -> set[tuple[str, str]]:
    (tmp_path / "patterns.tsv").write_text(pattern + "\n", encoding="utf-8")
    return set(islice(Patterns(tmp_path / "patterns.tsv", nouns, lambda row: True).deal(0), n))


def test_the_pronoun_is_that_of_the_noun_it_stands_for(tmp_path: Path) -> None:
    pattern = (
        "animal\tthing\tA {1} saw the {2} because {1:he|she|it} was near.\t"
        "{1:ein|eine|ein} {1} sah {2:den|die|das} {2}, weil {1:er|sie|es} nahe war."
    )
    assert dealt(tmp_path, pattern, OWL, PENGUIN, BOX) == {
        ("An owl saw the box because she was near.", "Eine Eule sah das Boot, weil sie nahe war."),
        (
            "A penguin saw the box because he was near.",
            "Ein Pinguin sah das Boot, weil er nahe war.",
        ),
    }


def test_plurals_are_those_of_the_noun_and_one_without_is_not_asked(tmp_path: Path) -> None:
    single = Noun("moon", "Mond", "masculine", ("", ""), frozenset(["animal"]))
    pattern = "animal\t-\tTwo {1s}.\tZwei {1s}."
    assert dealt(tmp_path, pattern, OWL, single) == {("Two owls.", "Zwei Eulen.")}


def test_two_gaps_hold_two_nouns(tmp_path: Path) -> None:
    pattern = "animal\tanimal\tThe {1}, the {2}.\tx {1} {2}"
    rows = dealt(tmp_path, pattern, OWL, PENGUIN)
    assert {source for source, _ in rows} == {"The owl, the penguin.", "The penguin, the owl."}


def test_what_is_not_allowed_is_not_dealt() -> None:
    unseen = {key(source) for source, _ in stage_pairs()}
    asked: list[str] = []

    def is_allowed(row: tuple[str, str]) -> bool:
        asked.append(row[0])
        return len(asked) % 2 == 0 and key(row[0]) not in unseen

    rows = list(islice(Patterns(PATTERNS, nouns(NOUNS), is_allowed).deal(0), 300))
    assert [source for source, _ in rows] == asked[1::2]


def test_the_same_pairs_whenever_they_are_asked_for() -> None:
    patterns = Patterns(PATTERNS, nouns(NOUNS), lambda row: True)
    whole = list(islice(patterns.deal(0), 250))
    assert list(islice(patterns.deal(200), 50)) == whole[200:]


def test_every_pattern_can_be_filled_and_leaves_no_gap() -> None:
    patterns = Patterns(PATTERNS, nouns(NOUNS), lambda row: True)
    rows = list(islice(patterns.deal(0), 10 * len(patterns.patterns)))
    assert not [row for row in rows for text in row if "{" in text or "|" in text]
    assert all(source[0].isupper() and source[-1] == target[-1] for source, target in rows)


def test_a_noun_has_a_gender_unless_it_is_a_name() -> None:
    for each in nouns(NOUNS):
        is_name = each.kinds <= {"country", "language"}
        assert each.gender in ([""] if is_name else GENDERS), each
        assert each.kinds and NO_NOUN not in each.kinds, each
        assert bool(each.plural[0]) == bool(each.plural[1]), each


def test_a_noun_may_stand_in_other_sentences_too() -> None:
    assert list(OWL.words) == [Word("owl", "Eule", "feminine"), Word("owls", "Eulen", "plural-n")]
