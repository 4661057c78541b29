"""The Positions page offers what was recorded, of any module, and says which scheme it is."""

from types import SimpleNamespace

import pytest
from streamlit.testing.v1 import AppTest

from tests.viz.conftest import placed_recording
from transformer.discover import discover
from transformer.recording import Recording

VIEWS = {
    "alibi": ["alibi_slopes", "relative_bias", "joint_map"],
    "relative": ["relative_bias", "joint_map"],
    "rotary": ["rotary_decay", "rotary_scores", "rotary_waves", "joint_map"],
}


def page(recording: Recording) -> AppTest:
    about = SimpleNamespace(opens_at=("encoder_self", 1, 2), special="shown", tokenizer="bpe")
    family = SimpleNamespace(attentions=recording.attentions)
    checkpoint = SimpleNamespace(about=about, family=family)
    test = AppTest.from_function(script, default_timeout=30)
    test.session_state["answer"] = SimpleNamespace(recording=recording, checkpoint=checkpoint)
    return test.run()


def script() -> None:
    import streamlit as st

    from viz.pages.positions import PAGE
    from viz.run.request import make_request
    from viz.state.page import Pane
    from viz.state.state import session

    asked = make_request("none", "", "none")
    PAGE.draw(Pane(session().screen, asked, st.session_state["answer"]))


@pytest.mark.parametrize(("name", "views"), VIEWS.items(), ids=VIEWS)
def test_it_offers_the_views_that_apply(name: str, views: list[str]) -> None:
    shown = page(placed_recording(name, 7))
    assert not shown.exception
    said = {"alibi": "ALiBi", "relative": "Relative bias", "rotary": "Rotary"}[name]
    assert shown.markdown[0].value.replace("\\", "").startswith(f"{said} (encoder self")
    control = shown.button_group(key="view")
    titles = [*(discover("viz.views", "VIEW")[view].title for view in views), "Lab"]
    assert control.options == titles
    for view in views:
        control.set_value(view)
        assert not shown.run().exception


def test_it_says_so_where_nothing_tells_positions_apart() -> None:
    (said,) = page(placed_recording("alibi", 1)).info
    assert said.value.startswith(
        "No position scheme was found in this pass. Looked for: rows of a table"
    )
