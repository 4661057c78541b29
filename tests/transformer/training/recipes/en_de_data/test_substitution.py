"""A noun gives way to one of the same gender and number only, on both sides at once."""

from itertools import islice

import pytest

from transformer.training.recipes.en_de_data.substitution import (
    RARE,
    Frame,
    Genders,
    Substitutions,
    Word,
    frames,
    rare,
    words,
)

SENTENCES = [
    ("I have a car.", "Ich habe einen Wagen."),
    ("She sold the car yesterday.", "Sie hat gestern den Wagen verkauft."),
    ("The bat sleeps.", "Die Fledermaus schläft."),
    ("A mouse is small.", "Eine Maus ist klein."),
    ("Has he an idea?", "Hat er eine Idee?"),
    ("They see the cars.", "Sie sehen die Autos."),
    ("Some dogs bark.", "Einige Hunde bellen."),
    ("They drive the dog home.", "Sie fahren den Hund heim."),
]
DICTIONARY = [
    ("car", "Wagen"),
    ("cars", "Autos"),
    ("bat", "Fledermaus"),
    ("bat", "Schlagholz"),
    ("mouse", "Maus"),
    ("idea", "Idee"),
    ("dog", "Hund"),
    ("dogs", "Hunde"),
    ("to sell", "verkaufen"),
    ("student", "Student"),
    ("traffic light", "Ampel"),
    ("stationary traffic light", "Ampel"),
    ("attention", "Aufmerksamkeit"),
    ("Berlin", "Berlin"),
]


def test_genders_are_told_by_articles_then_by_the_last_part_then_by_the_ending() -> None:
    genders = Genders(target for _, target in SENTENCES)
    assert genders.of("Wagen") == genders.of("Hund") == "masculine"
    assert genders.of("Fledermaus") == genders.of("Spitzmaus") == "feminine"
    assert genders.of("Zeitung") == "feminine"
    assert genders.of("Mädchen") == "neuter"
    assert genders.of("Kind") is None
    told = Genders(["Der Pinguin schwimmt.", "Die Ampel ist rot.", "Die Lichter sind da."])
    assert told.of("Pinguin") == "masculine"
    assert told.of("Ampel") == "feminine"
    assert told.of("Lichter") == "masculine"  # by its ending: this is no article of a singular


def test_words_are_nouns_whose_form_is_known_and_verbs() -> None:
    assert words(DICTIONARY, SENTENCES) == [
        Word("car", "Wagen", "masculine"),
        Word("cars", "Autos", "plural-n"),
        Word("bat", "Fledermaus", "feminine"),
        Word("mouse", "Maus", "feminine"),
        Word("idea", "Idee", "feminine"),
        Word("dog", "Hund", "masculine"),
        Word("dogs", "Hunde", "plural"),
        Word("attention", "Aufmerksamkeit", "feminine"),
        Word("sell", "verkaufen", "verb"),
    ]
    lights = [*SENTENCES, ("The light!", "Die Ampel ist rot.")]
    assert Word("traffic light", "Ampel", "feminine") in words(DICTIONARY, lights)


def test_abstract_nouns_and_verbs_have_frames_of_their_own() -> None:
    rows = [
        ("Attention is rare.", "Aufmerksamkeit ist selten."),
        ("Pay attention!", "Sei still!"),
        ("She can sell it.", "Sie kann es verkaufen."),
        ("She wants to sell it.", "Sie will es verkaufen."),
        ("You could sell it.", "Es ist zu verkaufen."),
        ("Mouse or bat?", "Maus oder Fledermaus?"),
    ]
    found = frames(rows, words(DICTIONARY, SENTENCES))
    assert {form: [each.row for each in of] for form, of in found.items()} == {
        "bare feminine": [rows[0]],
        "verb": [rows[2]],
    }
    patience = Word("patience", "Zufriedenheit", "feminine")
    assert patience.forms == ("feminine", "bare feminine")
    assert Word("mouse", "Maus", "feminine").forms == ("feminine",)
    dealt = [*islice(Substitutions([patience], found).deal(0), 3)]
    assert dealt == [("Patience is rare.", "Zufriedenheit ist selten.")] * 3


def test_a_frame_has_a_noun_once_after_a_determiner_and_its_translation_once() -> None:
    row = ("The dog sees the dog.", "Der Hund sieht den Hund.")
    verb = ("Dog them.", "Den Hund!")
    found = frames([*SENTENCES, row, verb], words(DICTIONARY, SENTENCES))
    assert {form: len(each) for form, each in found.items()} == {
        "masculine": 3,
        "feminine": 3,
        "plural-n": 1,
        "plural": 1,
    }


@pytest.mark.parametrize(
    ("noun", "english"),
    [
        (Word("mouse", "Maus", "feminine"), "Has he a mouse?"),
        (Word("eagle", "Eule", "feminine"), "Has he an eagle?"),
        (Word("university", "Universität", "feminine"), "Has he a university?"),
        (Word("hour", "Stunde", "feminine"), "Has he an hour?"),
    ],
)
def test_a_and_an_follow_the_new_noun(noun: Word, english: str) -> None:
    frame = Frame(SENTENCES[4], Word("idea", "Idee", "feminine"))
    assert frame.having(noun) == (english, f"Hat er eine {noun.german}?")


def test_a_rare_noun_comes_with_the_translation_that_sentences_have_beside_it() -> None:
    known = [*words(DICTIONARY, SENTENCES), Word("bat", "Maus", "feminine")]
    found = rare(known, [*SENTENCES, ("A bat!", "Maus Maus Maus"), SENTENCES[2]])
    assert found == [Word("car", "Wagen", "masculine"), Word("bat", "Fledermaus", "feminine")]


def test_what_sentences_have_once_or_often_is_not_rare() -> None:
    known = words(DICTIONARY, SENTENCES)
    assert {noun.english for noun in rare(known, SENTENCES)} == {"car"}
    assert rare(known, SENTENCES * RARE.stop) == rare(known, SENTENCES[:1]) == []


def test_a_verb_is_rare_where_its_translation_is_written_beside_it() -> None:
    known = [Word("sell", "verkaufen", "verb"), Word("sell", "täuschen", "verb")]
    rows = [("They sell it.", "Sie verkaufen es.")] * 2
    assert rare(known, [*rows, ("Good.", "Sie täuschen es.")]) == known[:1]
    assert rare(known[1:], [*rows, ("Good.", "Sie täuschen es.")]) == []


def test_pairs_are_dealt_the_same_from_any_start_on() -> None:
    known = words(DICTIONARY, SENTENCES)
    lonely = Word("child", "Kind", "neuter")
    substitutions = Substitutions([*known, lonely], frames(SENTENCES, known))
    assert lonely not in substitutions.words
    dealt = [*islice(substitutions.deal(0), 40)]
    assert [*islice(substitutions.deal(11), 5)] == dealt[11:16]
    assert ("Some dogs bark.", "Einige Hunde bellen.") in dealt
    assert len(set(dealt)) > 8
