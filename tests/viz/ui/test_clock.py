"""The clock of the system is set back, again and again, while everything is in use."""

import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.viz.run.made import Made
from tests.viz.run.test_newest import Person
from tests.viz.ui.test_app import components, said, screen, start, widget
from viz.page_fields import TrainingFields
from viz.run.cache import CACHE
from viz.run.line import Line
from viz.run.operating import COUNTS
from viz.run.request import make_request
from viz.run.work import at_hand, follow
from viz.state import limits as limits_module

ROOT = Path(__file__).parents[3]
HOUR = 3600.0


@pytest.fixture(autouse=True)
def clock_that_falls(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """By an hour each time that somebody looks."""
    now = [time.time()]

    def look() -> float:
        now[0] -= HOUR
        return now[0]

    monkeypatch.setattr(time, "time", look)
    monkeypatch.setattr(time, "time_ns", lambda: int(look() * 1e9))
    monkeypatch.setenv("HEADSCOPE_PUBLIC", "yes")
    monkeypatch.setenv("HEADSCOPE_MOST_RUNS", "3")
    monkeypatch.setenv("HEADSCOPE_CHECKPOINTS", str(ROOT / "checkpoints"))
    before = dict(COUNTS.values)
    CACHE.clear()
    yield
    limits_module._of_address.clear()
    COUNTS.values = before


def test_answers_stay_and_limits_hold() -> None:
    app = start(checkpoint="copy", text="2 9 8 7 11", decoding="greedy")
    for n in (3, 4):
        widget(app.text_input, "text").set_value(f"{n} 9 8 7 11").run()
        assert not app.exception and not said(app)
        assert at_hand(make_request("copy", f"{n} 9 8 7 11", "greedy")) is not None
    widget(app.text_input, "text").set_value("5 9 8 7 11").run()
    (seconds,) = re.findall(r"reads 3 texts per minute .* ask again in (\d+) second", said(app))
    assert 1 <= int(seconds) <= 60
    widget(app.text_input, "text").set_value("2 9 8 7 11").run()  # it is not read anew
    assert not app.exception and not said(app)
    app = start(page="training", checkpoint="copy", topic="heads", snapshot="126")
    assert not said(app)
    assert "snapshot_player" in components(app)
    assert screen(app).of(TrainingFields).snapshot == 126


def test_who_waits_has_a_turn_and_long_work_ends() -> None:
    line = Line()
    answers = [Person(line).ask(lambda _, n=n: n) for n in range(5)]  # type: ignore[misc]
    assert [each.result() for each in answers] == list(range(5))

    def counts(known: int | None, _: object) -> Iterator[int]:
        yield from range((known or 0) + 1, 4)

    follower = follow(Made("clock", counts))
    assert follower.work.ended.wait(60)
    assert follower.work.latest == 3 and follower.work.is_whole and follower.work.error is None
