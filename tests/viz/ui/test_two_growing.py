"""Two studies that grow on one page: each has a row of its own that says how far it is."""

from collections.abc import Iterator
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from tests.viz.ui.test_app import start
from viz.pages.sweep import studies
from viz.run.cache import CACHE


def test_pairs_are_tried_while_the_sweep_still_writes_what_changes(
    copied: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    may_end = Event()

    def held_after(study: type[Any], is_enough: Any) -> None:
        """Hold it where its value is enough, before its end."""
        run = study.run

        def held(self: Any, *args: Any) -> Iterator[Any]:
            for value in run(self, *args):
                yield value
                if is_enough(value):
                    assert may_end.wait(20)

        monkeypatch.setattr(study, "run", held)

    held_after(studies.HeadAblation, lambda value: value.is_measured)
    held_after(studies.HeadPairs, lambda value: len(value.pairs) > 0)
    CACHE.clear()
    app = start(page="sweep", checkpoint="copy", sweep_asked="yes", sweep_pairs="4")
    both = app.session_state["session"].studies.values()
    try:
        for _ in range(20):
            if len(both) == 2 and all(each.work.latest is not None for each in both):
                break
            app.run()
        assert {type(each.work.study) for each in both} == {studies.HeadAblation, studies.HeadPairs}
        app.run()
        assert not app.exception and not app.error
        assert len([each for each in app.button if each.label == "Stop"]) == 2
    finally:
        may_end.set()
