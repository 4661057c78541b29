"""Words of a story on a page, of a scene that has none yet, too."""

import pytest
from streamlit.testing.v1 import AppTest


def script(words: str) -> None:
    from viz.talks.story import draw_words

    draw_words(words)


@pytest.mark.parametrize("words", ["", "<p>Words.</p>", "<p><math><mi>x</mi></math></p>"])
def test_a_scene_is_drawn_with_and_without_words(words: str) -> None:
    app = AppTest.from_function(script, kwargs={"words": words}).run()
    assert [each.value for each in app.exception] == []
    assert len(app.main) == (words != "")
