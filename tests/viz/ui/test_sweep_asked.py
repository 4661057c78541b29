"""A sweep begins when it is asked for: by its button, a link, or a scene; or is there at once."""

from pathlib import Path

import pytest

from tests.viz.ui.test_app import folder, start
from viz.pages.experiment.studies import HeadAblation, HeadsOverSentences
from viz.run.cache import CACHE
from viz.screen import choose, value_of

__all__ = ["folder"]
PLAIN = {"page": "experiment", "checkpoint": "copy", "text": "3 7 2 9", "decoding": "greedy"}
OVER = PLAIN | {"sweep_over": "sentences", "sweep_sentences": "3 7 2\n4 9 5"}


@pytest.mark.parametrize(("query", "study"), [(PLAIN, HeadAblation), (OVER, HeadsOverSentences)])
def test_a_sweep_waits_for_its_button(folder: Path, query: dict[str, str], study: type) -> None:
    CACHE.clear()
    app = start(**query)
    state = app.session_state["session"]
    assert study not in state.studies and not app.exception
    (button,) = [each for each in app.button if each.label.startswith("Begin the sweep")]
    n = sum(it.n_layers * it.n_heads for it in state.answer.recording.attentions.values())
    n *= 1 if study is HeadAblation else 2
    assert f": {n} runs, about " in button.label
    button.click().run()
    assert state.studies[study].work.ended.wait(60) and value_of(state.screen, "sweep_asked")
    again = start(**query)  # it is known by now
    assert study in again.session_state["session"].studies
    assert not [each for each in again.button if each.label.startswith("Begin the sweep")]


@pytest.mark.parametrize("more", [{"sweep_asked": "yes"}, {"story": "why-attention"}])
def test_a_link_and_a_scene_begin_it(folder: Path, more: dict[str, str]) -> None:
    CACHE.clear()
    app = start(**PLAIN, **more)
    assert HeadAblation in app.session_state["session"].studies


def test_another_sentence_is_asked_for_anew(folder: Path) -> None:
    CACHE.clear()
    app = start(**PLAIN, sweep_asked="yes")
    state = app.session_state["session"]
    assert state.studies[HeadAblation].work.ended.wait(60)
    assert value_of(state.screen, "sweep_asked")
    assert not value_of(choose(state.screen, text="3 7 2"), "sweep_asked")
