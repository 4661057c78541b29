"""Lessons without a browser: no truth is sent before an answer, and every checkpoint will do."""

import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from tests.viz.ui.test_app import start
from transformer import decode, load_checkpoint, record
from viz.lessons.kinds import read_task
from viz.lessons.needs import NEEDS
from viz.lessons.place import find_place
from viz.lessons.seen import Seen
from viz.pages.lessons import standing_in
from viz.stories.shipped import shipped_stories, stories_of

LESSON, TEXT = "attention-by-hand", "3 7 2 9 4 11 5"


def sent(app: AppTest) -> str:
    """All that goes to the browser, without what escapes it."""
    plain = "\n".join(str(each.proto) for each in app.main)
    return re.sub(r"\\+(\W)", r"\1", plain)


def asked() -> list[tuple[Any, Seen]]:
    checkpoint = load_checkpoint("checkpoints/copy", "cpu")
    recording = record(checkpoint, TEXT, decode(checkpoint, TEXT, "greedy").target)
    found = []
    for scene in shipped_stories()[LESSON].scenes:
        place = find_place(recording, scene.exercise.head, scene.exercise.row)
        assert place is not None
        for said in scene.exercise.tasks:
            task, arguments = read_task(said)
            found.append((task, Seen(checkpoint, recording, place, arguments, TEXT)))
    return found


def button(app: AppTest, label: str) -> Any:
    return next(each for each in app.button if each.label == label)


def test_no_truth_is_sent_before_it_is_asked_for() -> None:
    app = start(page="lessons", story=LESSON, checkpoint="copy", text=TEXT, decoding="greedy")
    assert "Which word does the row" in sent(app)
    for n, (task, seen) in enumerate(asked()):
        over = [*app.info, *app.success]
        assert len(over) == n
        explained = re.sub(r"\s+", " ", task.explain(seen))
        assert explained not in sent(app)
        button(app, "Show me").click().run()
        assert not app.exception
        shown = [re.sub(r"\\(\W)", r"\1", each.value) for each in app.info]
        assert any(explained in each for each in shown), (explained, shown)


def test_a_wrong_answer_is_nudged_once() -> None:
    app = start(page="lessons", story=LESSON, checkpoint="copy", text=TEXT, decoding="greedy")
    app.number_input[0].set_value(-1000.0)
    checks = [each for each in app.button if each.label == "Check"]
    checks[1].click().run()
    assert "mind the signs" in app.info[0].value
    [each for each in app.button if each.label == "Check"][1].click().run()
    assert "one number for how well" in app.info[0].value


@pytest.mark.parametrize("lesson", [each.name for each in stories_of("lesson")])
def test_a_lesson_of_another_checkpoint_is_told(lesson: str) -> None:
    app = start(page="lessons", story=lesson, checkpoint="copy", text=TEXT)
    assert len(app.subheader) == len(shipped_stories()[lesson].scenes)
    assert not app.error


def test_snapshots_that_may_not_be_opened_count_as_none(monkeypatch: pytest.MonkeyPatch) -> None:
    checkpoint = SimpleNamespace(path=Path("checkpoints/en-de-small"))
    shown: Any = SimpleNamespace(checkpoint=checkpoint, recording=None, request=None)
    monkeypatch.setattr(standing_in, "snapshots_of", lambda shown: [])
    assert standing_in._lacking(shown, ("snapshots",)) == NEEDS["snapshots"].lacks
    monkeypatch.setattr(
        standing_in, "snapshots_of", lambda shown: standing_in.list_snapshots(checkpoint.path)
    )
    assert standing_in._lacking(shown, ("snapshots",)) is None
