"""An output that is far shorter than what was read is said to be: a translation leaves out much."""

from dataclasses import replace

import pytest

from viz.run.request import Answer, Request, make_answer
from viz.ui import notes as of_answer


@pytest.fixture
def notes(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    told: list[str] = []
    monkeypatch.setattr(of_answer, "note", told.append)
    return told


def answer(n_read: int, n_written: int, is_ended: bool = True) -> Answer:
    result = make_answer(Request("copy", 0, "3 4 5", "greedy"))
    assert result.decoding is not None
    source, target = result.decoding.source, result.decoding.target
    made = replace(
        result.decoding,
        source=source[:1] * n_read,
        target=target[:1] * n_written,
        is_ended=is_ended,
    )
    return replace(result, decoding=made)


def test_it_is_said_of_a_long_text_with_both_lengths(notes: list[str]) -> None:
    of_answer.say_length(answer(125, 59), "B: ")
    (told,) = notes
    assert told.startswith("B: ") and "59" in told and "125" in told


@pytest.mark.parametrize(
    ("n_read", "n_written", "is_ended"),
    [(39, 39, True), (125, 76, True), (16, 4, True), (125, 59, False)],
    ids=["as long", "a bit shorter", "a short text", "cut at the limit"],
)
def test_it_is_not_said_otherwise(
    notes: list[str], n_read: int, n_written: int, is_ended: bool
) -> None:
    of_answer.say_length(answer(n_read, n_written, is_ended))
    assert not notes


def test_it_is_not_said_of_a_text_that_somebody_gave(notes: list[str]) -> None:
    given = answer(125, 59)
    of_answer.say_length(replace(given, request=replace(given.request, method="forced")))
    assert not notes
