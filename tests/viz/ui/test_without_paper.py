"""The app where matplotlib is not installed: what needs it says so, and all else is shown."""

import sys
from dataclasses import replace

import pytest

from tests.viz.server.test_recording_scenes import scene_of
from tests.viz.ui.test_app import said, start
from transformer.discover import discover
from viz.screen import spell
from viz.server.recording_scenes import story_file
from viz.state.page import PAGES
from viz.stories.reading import shipped_stories
from viz.stories.story import Story

RATE = "/training?checkpoint=copy&text=3+8+4&topic=rate"


@pytest.fixture(params=[True, False], ids=["with", "without"])
def is_there(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Whether matplotlib can be imported."""
    if not request.param:
        monkeypatch.setitem(sys.modules, "matplotlib", None)
    return bool(request.param)


def test_a_wall_shows_charts_as_a_page_does(is_there: bool) -> None:
    screen = shipped_stories()["smoothing-and-rate"].screen_of(3)
    app = start(**spell(replace(screen, role="stage")))
    assert not said(app)
    assert len(app.get("plotly_chart")) == (0 if is_there else 1)


def test_a_saved_story_names_the_address_of_a_chart(
    is_there: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, page in discover("viz.pages", "PAGE").items():
        monkeypatch.setitem(PAGES, name, page)
    text = story_file(Story("x", "A story", "talk", scenes=(scene_of(RATE),))).decode()
    assert ('<div class="printed">' in text) == is_there
    assert ('<p class="live">' in text) != is_there
