"""On a public server a sweep counts texts that it writes again, and stops at the limit."""

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.viz.ui.test_app import folder, start
from transformer import Checkpoint
from transformer.analysis.ablation import Ablation, ablating
from viz.pages.sweep import studies
from viz.pages.sweep.studies import HeadAblation
from viz.run.cache import CACHE
from viz.state.limits import Runs
from viz.ui import progress

__all__ = ["folder"]

ASKED = {"decoding": "greedy", "sweep_asked": "yes"}


def test_a_visitor_is_charged_for_each_text_that_is_written(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    may, n_written = threading.Semaphore(0), 0

    def gated(
        checkpoint: Checkpoint,
        text: str,
        target: Any,
        before: Ablation | None,
        *more: Any,
        **options: Any,
    ) -> Iterator[Ablation]:
        for known in ablating(checkpoint, text, target, before, *more, **options):
            if len(known.written) > len(before.written if before else ()):
                assert may.acquire(timeout=20)
            yield known

    monkeypatch.setattr(studies, "ablating", gated)
    monkeypatch.setattr(progress, "AT_ONCE", 1)
    monkeypatch.setenv("HEADSCOPE_PUBLIC", "yes")
    monkeypatch.setenv("HEADSCOPE_MOST_RUNS", "6")
    CACHE.clear()
    app = start(page="sweep", checkpoint="copy", text="3 7 2 9", **ASKED)
    state = app.session_state["session"]
    sweep = state.studies[HeadAblation]
    n_before = len(state.of(Runs).times)  # the text and the sweep
    while not sweep.is_stopped:
        n_written += 1
        assert n_written < 9
        may.release()
        while len(sweep.work.latest.written) < n_written:
            assert not sweep.work.ended.wait(0.005)
        app.run()
    assert len(state.of(Runs).times) == n_before + n_written == 7
    may.release()
    assert sweep.work.ended.wait(20)
    app.run()
    said = " ".join(each.value for each in app.caption)
    assert "This server reads 6 texts per minute for each visitor" in said.replace("\\", "")
    assert any(each.label == "Go on" for each in app.button)
    assert not app.exception


def test_the_usual_limit_lets_a_sweep_of_many_heads_come_to_its_end(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every tenth text is charged, beside the text and the sweep."""
    monkeypatch.setenv("HEADSCOPE_PUBLIC", "yes")
    CACHE.clear()
    app = start(page="sweep", checkpoint="copy", text="3 7 2 9", **ASKED)
    state = app.session_state["session"]
    sweep = state.studies[HeadAblation]
    assert sweep.work.ended.wait(60)
    app.run()
    n_written = len(sweep.work.latest.written)
    assert not sweep.is_stopped and sweep.work.is_whole
    assert len(state.of(Runs).times) == 2 + n_written // progress.AT_ONCE and n_written >= 2
    assert not app.exception
