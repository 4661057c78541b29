"""An answer that the model is less sure of than of any held-out sentence is said to be a guess."""

from dataclasses import replace
from typing import Any

import pytest

from viz.run.request import Answer, Request, make_answer
from viz.ui import notes as of_answer

STRANGE = "THE CAT SAT ON THE MAT"


@pytest.fixture
def notes(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    told: list[str] = []
    monkeypatch.setattr(of_answer, "note", told.append)
    return told


def answer(text: str, method: str = "greedy", **more: Any) -> Answer:
    return make_answer(Request("en-de", 0, text, method, **more))


@pytest.mark.parametrize("method", ["greedy", "beam"])
def test_it_is_said_of_what_no_sentence_is_like(notes: list[str], method: str) -> None:
    of_answer.say_unsure(answer(STRANGE, method), "B: ")
    (told,) = notes
    assert told.startswith("B: ") and "320" in told and told.count("%") == 2


@pytest.mark.parametrize("text", ["She is ill.", "I have never seen such a beautiful house."])
def test_it_is_not_said_of_a_sentence(notes: list[str], text: str) -> None:
    of_answer.say_unsure(answer(text))
    assert not notes


def test_it_is_not_said_of_what_somebody_changed_or_decided(notes: list[str]) -> None:
    made = answer(STRANGE)
    assert made.decoding is not None
    prefix = tuple(token.id for token in made.decoding.target[:1])
    for changed in (
        replace(made.request, edits=("head-off:cross.0.0",)),
        replace(made.request, constraints=replace(made.request.constraints, prefix=prefix)),
        replace(made.request, branch=prefix),
        replace(made.request, method="sample"),
        replace(made.request, checkpoint="copy"),
    ):
        of_answer.say_unsure(replace(made, request=changed))
    of_answer.say_unsure(replace(made, decoding=None))
    assert not notes


def test_other_weights_have_no_such_number(
    notes: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(of_answer, "has_mark", lambda checkpoint, begins: False)
    of_answer.say_unsure(answer(STRANGE))
    assert not notes


def test_one_note_is_enough(notes: list[str]) -> None:
    made = answer(f"{STRANGE} 😀")
    of_answer.say_of_answer(made.request, made)
    assert len(notes) == 1 and "😀" in notes[0]
