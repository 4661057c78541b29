"""Studies on a page are stopped between two of their steps, and go on from there."""

import time
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from threading import Semaphore
from typing import Any, NoReturn

import pytest

from tests.transformer.decoding.test_shared_batch import until
from tests.viz.ui.test_app import components, folder, start
from tests.viz.ui.test_experiment import press
from transformer.training.snapshots import Course, watching
from viz.causes.needs import FindRepairs
from viz.run.cache import CACHE

__all__ = ["folder"]


def test_a_search_is_stopped_and_begun_again(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begun = []

    def endless(*asked: Any, on_step: Callable[[], None], **others: Any) -> NoReturn:
        begun.append(asked)
        while True:
            on_step()
            time.sleep(0.005)

    monkeypatch.setattr(import_module("transformer.causes.repairs"), "needed", endless)
    monkeypatch.setattr("viz.ui.progress.LONG", 0.0)
    word = {"kind": "cross", "pins": "q1", "instead": "9"}
    app = start(page="decode", checkpoint="copy", decoding="greedy", **word)
    press(app, "Find a repair")
    work = app.session_state["session"].studies[FindRepairs].work
    until(lambda: len(begun) == 1)  # what is decoded before is soon done
    assert not work.ended.is_set()
    press(app, "Stop")
    assert work.ended.wait(10) and work.error is None
    assert any(each.value.startswith("Stopped: ") for each in app.caption)
    press(app, "Go on")
    again = app.session_state["session"].studies[FindRepairs]
    assert again.work is not work and not again.is_stopped
    until(lambda: len(begun) == 2)
    again.stop()
    assert again.work.ended.wait(10)
    assert not app.exception


def test_a_page_that_waits_for_all_of_a_study_stops_and_goes_on_from_there(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    may, known = Semaphore(0), list[Course | None]()

    def gated(*told: Any) -> Iterator[Course]:
        known.append(told[-1])
        for course in watching(*told):
            yield course
            assert may.acquire(timeout=20)

    monkeypatch.setattr("viz.pages.training.heads.watching", gated)
    monkeypatch.setattr("viz.ui.progress.LONG", 0.0)
    CACHE.clear()
    app = start(page="training", topic="heads", checkpoint="copy", decoding="greedy")
    may.release(2)
    (work,) = (each.work for each in app.session_state["session"].studies.values())
    until(lambda: work.latest is not None and work.latest.n_done == 2)
    press(app, "Stop")
    may.release()
    assert work.ended.wait(20) and not work.is_whole
    app.run()
    assert any("of 12 are done" in each.value for each in app.caption)
    press(app, "Go on")
    may.release(50)
    (again,) = (each.work for each in app.session_state["session"].studies.values())
    assert again.ended.wait(20) and again.is_whole
    assert known[0] is None and known[1] is not None and known[1].n_done >= 2
    app.run()
    assert "snapshot_player" in components(app) and not app.exception
