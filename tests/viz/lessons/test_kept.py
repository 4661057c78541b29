"""What a browser says that it kept is read as far as it can be an answer, whatever it says."""

import json

import pytest

from tests.viz.lessons.test_every_task import EACH, all_seen, right, wrong
from viz.lessons.kept import MOST, kept, read_kept, regained
from viz.lessons.task import Task
from viz.lessons.tried import Tried, answered, reveal


@EACH
def test_what_was_kept_comes_back(task: Task) -> None:
    seen = next(all_seen(task))
    first, last = wrong(task, seen), right(task, seen)
    nudged = answered(Tried(), first, task, seen)
    ends = (
        nudged,
        reveal(nudged),
        reveal(Tried()),
        answered(nudged, first, task, seen),
        answered(nudged, last, task, seen),
        answered(Tried(), last, task, seen),
    )
    for tried in ends:
        (said,) = read_kept(json.dumps({"a": kept(tried)})).values()
        assert regained(said, task, seen) == tried


@EACH
@pytest.mark.parametrize("given", [(), (1.0,), (-5.0,) * 99, -1, 10**6, 0.5, "x"])
def test_no_answer_that_cannot_be_one_is_taken(task: Task, given: object) -> None:
    seen = next(all_seen(task))
    for said in read_kept(json.dumps({"a": [1, given, False]})).values():
        tried = regained(said, task, seen)
        assert tried == Tried() or tried.given == said[1]


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
    assert read_kept(said) == {}


def test_a_browser_can_keep_no_more_than_a_session() -> None:
    said = {str(i): [0, None, True] for i in range(MOST + 5)}
    assert list(read_kept(json.dumps(said))) == list(said)[5:]
