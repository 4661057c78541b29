"""A search for what a step would have to look at is stopped between two of its passes."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

import pytest

from tests.viz.ui.test_app import folder, start
from tests.viz.ui.test_experiment import press

__all__ = ["folder"]


def test_a_search_is_stopped_and_begun_again(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begun = []

    def endless(*asked: Any, on_step: Callable[[], None], **others: Any) -> NoReturn:
        begun.append(asked)
        while True:
            on_step()
            time.sleep(0.005)

    monkeypatch.setattr("viz.ui.needed.needed", endless)
    app = start(page="decode", checkpoint="copy", decoding="greedy")
    press(app, "Find it")
    (work,) = (each.work for each in app.session_state["session"].studies.values())
    assert not work.ended.is_set()
    press(app, "Stop")
    assert work.ended.wait(10) and work.error is None
    assert any("it was stopped" in each.value for each in app.caption)
    press(app, "Go on")
    (again,) = app.session_state["session"].studies.values()
    assert again.work is not work and not again.is_stopped
    again.stop()
    assert again.work.ended.wait(10) and len(begun) == 2
    assert not app.exception
