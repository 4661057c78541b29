"""A scene that asks, on the stage: no weight of the row is sent before the answer."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tests.viz.ui.test_app import start
from transformer import decode, load_checkpoint, record
from viz.lessons.subject import Subject
from viz.lessons.task import percent_of
from viz.run.request import Answer, Request, answer, with_length
from viz.screen import spell
from viz.stories.reading import asked_of, stories_of, truth_of
from viz.stories.story import Scene
from viz.talks.rooms import ROOMS, new_key

TALK = stories_of("talk")[0]
ASKING = [(i, scene) for i, scene in enumerate(TALK.scenes, 1) if scene.question]
OTHER = "My brother bought the house because he was rich."


@pytest.fixture(scope="module", params=ASKING, ids=[str(i) for i, _ in ASKING])
def asking(request: pytest.FixtureRequest) -> tuple[int, Scene]:
    return request.param  # type: ignore[no-any-return]


def row_of(scene: Scene, text: str) -> Subject:
    checkpoint = load_checkpoint(f"checkpoints/{scene.screen.checkpoint}", "cpu")
    recording = record(checkpoint, text, decode(checkpoint, text, "beam").target)
    seen = asked_of(scene, checkpoint, recording, "beam")
    assert seen is not None
    assert asked_of(scene, checkpoint, recording, "sample") is None  # chance decides there
    return seen


def sent(number: int, **more: Any) -> bytes:
    """All that goes to the browser of a scene on the stage."""
    app = start(**spell(replace(TALK.screen_of(number), role="stage", **more)))
    assert not app.error
    return b"".join(each.proto.SerializeToString() for each in app.main if each.proto)


def is_in(content: bytes, seen: Subject) -> bool:
    """Whether weights of the row are there: as arrays, by three in a row, or as the largest one."""
    weights = seen.weights.numpy()
    arrays = (weights.astype(kind) for kind in ("<f4", "<f2"))
    runs = (each[i : i + 3].tobytes() for each in arrays for i in range(len(weights) - 2))
    largest = float(weights.max())
    texts = (f"{largest:.3f}"[:-1].encode(), percent_of(largest).encode())
    return any(each in content for each in (*runs, *texts))


def test_no_weight_of_the_row_is_sent_before_the_answer(asking: tuple[int, Scene]) -> None:
    number, scene = asking
    for text in (scene.screen.text or "", OTHER):
        seen = row_of(scene, text)
        before, after = sent(number, text=text), sent(number, text=text, guess=())
        assert not is_in(before, seen) and is_in(after, seen)
        assert truth_of(seen).says.encode() not in before and truth_of(seen).says.encode() in after
        words = scene.question.words if scene.question and text != OTHER else seen.row_word
        assert words.encode() in before


@pytest.mark.parametrize("number", [i for i, each in ASKING if each.screen.page == "decode"])
def test_no_question_is_about_a_text_that_is_still_written(
    number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A shorter text is asked about its last row: that of a part is not the row that is meant.
    Elsewhere than on Decode a text is shown once it is whole.
    """

    def part(request: Request) -> Answer:
        return answer(with_length(request, 2))

    monkeypatch.setattr("viz.ui.header.streams", lambda request: True)
    monkeypatch.setattr("viz.ui.header.written_answer", part)
    assert b"once the text is written" in sent(number, text=OTHER)
    monkeypatch.setattr("viz.ui.header.written_answer", answer)
    assert b"once the text is written" not in sent(number, text=OTHER)


def test_a_room_says_that_a_row_is_too_long_to_be_counted(
    asking: tuple[int, Scene], monkeypatch: pytest.MonkeyPatch
) -> None:
    number, scene = asking
    n, room = len(row_of(scene, scene.screen.text or "").words), ROOMS.open("here", new_key())
    ROOMS.move(room, TALK.screen_of(number))
    for most, is_said in ((n, False), (n - 1, True)):
        monkeypatch.setattr("viz.talks.rooms.MOST_WORDS", most)
        why = f"too long to be counted: it has {n} words here, and answers are counted on {most} at"
        assert (why.encode() in sent(number, room=room.code)) is is_said
        assert b"too long" not in sent(number)  # without a room nobody counts


def test_the_truth_follows_the_sentence_and_is_scored_in_nats(asking: tuple[int, Scene]) -> None:
    seen, other = (row_of(asking[1], text or "") for text in (asking[1].screen.text, OTHER))
    truth = truth_of(seen)
    assert truth.weights != truth_of(other).weights
    n = len(seen.words)
    assert truth.uniform == pytest.approx(np.log(n), abs=1e-4)
    assert truth.least < truth.uniform and truth.least < truth.previous
    before = seen.place.query - 1  # its word is among those that the row may look at
    shares = np.full(n, 0.01 / n)
    at = next(i for i, group in enumerate(seen.groups) if before in group)
    shares[at] += 0.99
    assert truth.previous == pytest.approx(-float(seen.weights.numpy() @ np.log(shares)), abs=1e-4)
