"""What a model never learned is said where somebody typed it."""

from dataclasses import replace

import pytest

from transformer.token import Token
from viz.run.request import Answer, Request, make_answer
from viz.ui import notes as of_answer


@pytest.fixture
def notes(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    told: list[str] = []
    monkeypatch.setattr(of_answer, "note", told.append)
    return told


def answer(checkpoint: str, text: str) -> Answer:
    return make_answer(Request(checkpoint, 0, text, "greedy"))


@pytest.mark.parametrize(
    ("text", "lacking"),
    [
        ("I love you 😀", ["😀"]),
        ("東京 is big, 東 too", ["東", "京"]),
        ("2 + 2 = 4", ["="]),
        ("I met José in a café for €5.", []),
        ("The animal didn't cross the street because it was too tired.", []),
        ("She became the woman that hehaderhatte.", ["erhatte"]),
    ],
)
def test_under_trained_tokens_are_named_once(
    notes: list[str], text: str, lacking: list[str]
) -> None:
    of_answer.say_unlearned(answer("en-de", text), "B: ")
    assert len(notes) == bool(lacking)
    for told in notes:
        assert told.startswith("B: ") and told.count("“") == len(lacking)
        assert all(f"“{it}”" in told for it in lacking)


def test_of_many_the_rest_is_counted(notes: list[str]) -> None:
    of_answer.say_unlearned(answer("en-de", "東京大阪名古屋市"))
    (told,) = notes
    assert "名" in told and "古" not in told and "3 more" in told


@pytest.mark.parametrize(
    ("checkpoint", "text"),
    [("copy", "3 4 5"), ("shakespeare", "To be"), ("sentiment", "😀 good"), ("everyday", "She")],
)
def test_where_nothing_is_known_nothing_is_said(
    notes: list[str], checkpoint: str, text: str
) -> None:
    of_answer.say_unlearned(answer(checkpoint, text))
    assert not notes


def test_unknown_words_are_counted(notes: list[str]) -> None:
    made = replace(answer("copy", "3 4 5"), decoding=None)
    attention = made.recording.attentions["encoder_self"]
    unknown = (Token(100, "[UNK]", unknown=True),) * 2
    read = replace(attention, queries=(*unknown, *attention.queries[2:]))
    recording = replace(made.recording, attentions={"encoder_self": read})
    of_answer.say_unlearned(replace(made, recording=recording))
    (told,) = notes
    assert "[UNK]" in told and "2 words" in told
