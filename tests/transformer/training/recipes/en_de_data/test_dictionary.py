"""A dictionary's entries: the commonest meanings of the words that people use come first."""

from collections import Counter

from transformer.training.recipes.en_de_data.substitution import FAMILIAR, counted, sorted_out

ENGLISH = counted(["The car is red.", "A red car has to stop.", *["It is so."] * 500])
GERMAN = counted(
    ["Das Auto ist rot.", "Der Wagen ist da.", "Das Auto muss halten.", *["Es ist so."] * 500]
)


def test_words_are_counted_in_lower_case_without_signs() -> None:
    assert ENGLISH["car"] == 2
    assert ENGLISH["is"] == 501
    assert counted(["don't 12 Ärger_x"]) == Counter(["don", "t", "ärger", "x"])


def test_words_that_sentences_have_are_likely_with_their_commonest_translations() -> None:
    likely, rest = sorted_out(
        [
            ("car", "Fahrkorb"),
            ("car", "Wagen"),
            ("car", "Auto"),
            ("to stop", "halten"),
            ("red car", "Auto"),
            ("trophy", "Pokal"),
            ("red", "purpurn"),
        ],
        ENGLISH,
        GERMAN,
    )
    assert Counter(likely) == {("car", "Auto"): 2, ("car", "Wagen"): 1, ("to stop", "halten"): 2}
    assert rest == [("red car", "Auto"), ("trophy", "Pokal"), ("red", "purpurn")]


def test_familiar_words_need_no_dictionary() -> None:
    likely, rest = sorted_out([("so", "so")], ENGLISH, GERMAN)
    assert (likely, rest) == ([], [("so", "so")])
    assert ENGLISH["so"] >= FAMILIAR
