"""A dictionary's entries: the commonest meanings of the words that people use come first."""

from collections import Counter

from transformer.training.dictionary import MEANINGS, counted, ranked

ENGLISH = counted(["The car is red.", "A red car has to stop.", *["It is so."] * 300])
GERMAN = counted(
    ["Das Auto ist rot.", "Der Wagen ist da.", "Das Auto muss halten.", *["Es ist so."] * 300]
)


def test_words_are_counted_in_lower_case_without_signs() -> None:
    assert ENGLISH["car"] == 2
    assert ENGLISH["is"] == 301
    assert counted(["don't 12 Ärger_x"]) == Counter(["don", "t", "ärger", "x"])


def test_words_of_sentences_come_most_often_and_unknown_phrases_never() -> None:
    rows = [
        ("car", "Auto"),
        ("car", "Fahrkorb"),
        ("to stop", "halten"),
        ("red car", "Auto"),
        ("trophy", "Pokal"),
        ("trophy case", "Vitrine"),
    ]
    times = Counter(ranked(rows, ENGLISH, GERMAN))
    assert times == {
        ("car", "Auto"): 6,
        ("car", "Fahrkorb"): 1,
        ("to stop", "halten"): 6,
        ("red car", "Auto"): 2,
        ("trophy", "Pokal"): 1,
    }


def test_familiar_words_need_no_dictionary() -> None:
    assert Counter(ranked([("so", "so")], ENGLISH, GERMAN)) == {("so", "so"): 1}


def test_the_commonest_meanings_stay() -> None:
    targets = [*"abcdef", "Wagen", "Auto"]
    kept = dict.fromkeys(
        target for _, target in ranked([("car", t) for t in targets], ENGLISH, GERMAN)
    )
    assert [*kept][:2] == ["Auto", "Wagen"]
    assert len(kept) == MEANINGS
