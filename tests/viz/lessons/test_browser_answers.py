"""What a browser says that it kept is read as far as it can be an answer, whatever it says."""

import json

import pytest

from tests.viz.lessons.test_every_task import EACH, all_seen, right, wrong
from viz.lessons.answers import MOST, Attempt, answered, attempt_of, entry_of, read_entries, reveal
from viz.lessons.task import Task


@EACH
def test_what_was_kept_comes_back(task: Task) -> None:
    seen = next(all_seen(task))
    first, last = wrong(task, seen), right(task, seen)
    nudged = answered(Attempt(), first, task, seen)
    ends = (
        nudged,
        reveal(nudged),
        reveal(Attempt()),
        answered(nudged, first, task, seen),
        answered(nudged, last, task, seen),
        answered(Attempt(), last, task, seen),
    )
    for attempt in ends:
        (said,) = read_entries(json.dumps({"a": entry_of(attempt)})).values()
        assert attempt_of(said, task, seen) == attempt


@EACH
def test_no_answer_that_cannot_be_one_is_taken(task: Task) -> None:
    seen = next(all_seen(task))
    for given in ((), (1.0,), (-5.0,) * 99, -1, 10**6, 0.5, "x"):
        for said in read_entries(json.dumps({"a": [1, given, False]})).values():
            attempt = attempt_of(said, task, seen)
            assert attempt == Attempt() or attempt.answer == said[1], given


@pytest.mark.parametrize(
    "said",
    [
        *(None, 7, "", "[", "[]", "[" * 100_000, "{}", '{"a": 1}', '{"a": [1, "b", true]}'),
        *('{"a": [3, 1, true]}', '{"a": [1, NaN, true]}', '{"a": [1, [1, null], true]}'),
        '{"a": [1, 1' + "0" * 400 + ", true]}",
        '{"a": [1, 1' + "0" * 5000 + ", true]}",
    ],
)
def test_what_is_no_answer_is_none(said: object) -> None:
    assert read_entries(said) == {}


def test_a_browser_can_keep_no_more_than_a_session() -> None:
    said = {str(i): [0, None, True] for i in range(MOST + 5)}
    assert list(read_entries(json.dumps(said))) == list(said)[5:]
