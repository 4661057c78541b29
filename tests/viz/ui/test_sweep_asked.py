"""A sweep begins when it is asked for: by its button, a link, or a scene; or is there at once."""

from pathlib import Path

import pytest

from tests.viz.ui.test_app import folder, start
from viz.pages.sweep.studies import FirstHeads, HeadAblation, HeadsOverSentences
from viz.run.cache import CACHE
from viz.screen import choose, parse, value_of

__all__ = ["folder"]
PLAIN = {"page": "sweep", "checkpoint": "copy", "text": "3 7 2 9", "decoding": "greedy"}
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


@pytest.mark.parametrize(
    ("query", "says"), [(PLAIN, "24 runs, about 45 seconds"), (OVER, "48 runs, about 1 second")]
)
def test_it_says_how_long_the_first_heads_took(
    folder: Path, monkeypatch: pytest.MonkeyPatch, query: dict[str, str], says: str
) -> None:
    """Each is off in a forced pass in 20 ms, and its output is written anew in 2 s."""
    CACHE.clear()
    monkeypatch.setattr(FirstHeads, "run", lambda study, before, runner: iter([(0.02, 2.0)]))
    app = start(**query)
    assert any(each.label.endswith(f": {says}") for each in app.button)


def test_a_scene_of_a_story_begins_it(folder: Path) -> None:
    CACHE.clear()
    app = start(**PLAIN, story="why-attention")
    assert HeadAblation in app.session_state["session"].studies


@pytest.mark.parametrize("change", [{"text": "3 7 2"}, {"sweep_over": "sentences"}])
def test_what_else_is_swept_is_asked_for_anew(change: dict[str, str]) -> None:
    screen = parse(PLAIN | {"sweep_asked": "yes"})
    assert value_of(screen, "sweep_asked") and value_of(choose(screen, top=3), "sweep_asked")
    assert not value_of(choose(screen, **change), "sweep_asked")
