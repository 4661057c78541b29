"""The address as the server writes it: an entry a choice, none a page, and Back is believed."""

from typing import Any
from urllib.parse import urlencode

import pytest
from streamlit.testing.v1 import AppTest

from transformer.discover import discover
from viz.components.kit.browser import unpack
from viz.screen import Screen, put
from viz.state.page import PAGES


@pytest.fixture(autouse=True)
def pages() -> None:
    """As the app has found them before it draws one."""
    PAGES.update(discover("viz.pages", "PAGE"))


def script() -> None:
    import streamlit as st
    from streamlit.runtime.scriptrunner import get_script_run_ctx

    from viz.screen import put
    from viz.state import address
    from viz.state.state import change, mend, session

    if (went := st.session_state.get("went")) is not None:
        run = get_script_run_ctx()
        assert run is not None
        run.is_history_navigation, run.query_string = True, went
    address.open_page(st.session_state.get("page", "explore"))
    st.button("pin", on_click=lambda: change(pins=("q5",)))
    st.button("pin in B", on_click=lambda: change(pins=(), pins_b=("q4",)))
    st.button("other kind", on_click=lambda: mend(put(session().screen, kind=None)))
    st.button("text", on_click=lambda: change(text="It rains."))
    st.button("back", on_click=lambda: address._go_back(st.session_state["popped"]))
    address.write_address(["explore", "decode"], "")


def start(**query: str) -> AppTest:
    app = AppTest.from_function(script)
    for name, value in query.items():
        app.query_params[name] = value
    return app.run()


def told(app: AppTest) -> dict[str, Any]:
    """What the browser is told."""
    (bar,) = app.get("bidi_component")
    return unpack(bar.proto.bytes)[0]


def press(app: AppTest, name: str) -> dict[str, Any]:
    (button,) = (each for each in app.button if each.label == name)
    button.click().run()
    assert not app.exception
    return told(app)


def screen(app: AppTest) -> Screen:
    return app.session_state["session"].screen


def test_a_link_is_followed_and_leaves_the_address_as_it_is() -> None:
    app = start(pins="q3", layer="2")
    assert screen(app) == Screen(pins=("q3",), layer=2)
    assert told(app)["number"] == 0


def test_what_cannot_be_read_leaves_the_address_without_an_entry() -> None:
    bar = told(start(pins="?", layer="2", cat="3"))
    assert (bar["number"], bar["query"], bar["n_entries"]) == (1, "layer=2", 0)


def test_each_choice_is_an_entry() -> None:
    app = start()
    first = press(app, "pin")
    assert (first["number"], first["query"], first["n_entries"]) == (1, "pins=q5", 1)
    assert press(app, "pin")["number"] == 1
    second = press(app, "text")
    assert (second["number"], second["query"]) == (2, "text=It%20rains.")


def test_another_page_keeps_what_is_chosen_and_is_no_entry_of_ours() -> None:
    app = start()
    press(app, "pin")
    app.session_state["page"] = "decode"
    bar = told(app.run())
    assert (bar["number"], bar["query"], bar["n_entries"]) == (2, "pins=q5", 1)
    assert (bar["page"], bar["pages"]) == ("decode", ["", "decode"])


def test_back_is_followed() -> None:
    app = start()
    press(app, "pin")
    app.session_state["popped"] = "layer=1"
    bar = press(app, "back")
    assert screen(app) == Screen(layer=1)
    assert (bar["query"], bar["number"]) == ("layer=1", 1)


def test_the_address_that_asks_for_a_run_is_the_one_that_is_gone_to() -> None:
    """Streamlit's query_params stay those of a page before, where several are left at once."""
    app = start(layer="2")
    app.session_state["went"] = "layer=1"
    bar = told(app.run())
    assert screen(app) == Screen(layer=1)
    assert (bar["query"], bar["taken"], bar["number"]) == ("layer=1", "layer=1", 0)


def test_back_to_nonsense_is_mended() -> None:
    app = start()
    app.session_state["popped"] = "layer=x&text="
    bar = press(app, "back")
    assert (bar["number"], bar["query"], bar["n_entries"]) == (1, "text=", 0)


LOCKED = {"kind": "cross", "layer": "2", "head": "3", "same_head": "yes"}
"""As a link to Compare may say it: the head of B is that of A, and is not named."""
BOTH = put(
    Screen(kind="cross", layer=2, head=3), same_head=True, kind_b="cross", layer_b=2, head_b=3
)


@pytest.mark.parametrize("way", ["loaded", "linked", "back"])
def test_what_is_locked_is_so_when_it_is_opened_and_the_first_choice_stays(way: str) -> None:
    """The first choice brought the lock, which took another head of B for chosen, and its pins."""
    app = start(**(LOCKED if way == "loaded" else {}))
    text = urlencode(LOCKED)
    if way == "linked":
        app.session_state["went"] = text
        bar = told(app.run())
        del app.session_state["went"]
        assert bar["taken"] == text  # else the browser tells it once more, and what was chosen goes
    elif way == "back":
        app.session_state["popped"] = text
        bar = press(app, "back")
        assert bar["taken"] == text
    bar = told(app)
    assert screen(app) == app.session_state["session"].landing == BOTH
    assert (bar["number"], bar["n_entries"]) == (1, 0)  # it is written over the one that was opened
    assert press(app, "pin in B")["n_entries"] == 1
    assert screen(app) == put(BOTH, pins_b=("q4",))


def test_a_head_of_both_that_does_not_exist_is_mended_in_both() -> None:
    """And Back does not lead to the one that did not."""
    app = start(**LOCKED | {"kind": "no"})
    assert press(app, "other kind")["n_entries"] == 0
    assert screen(app) == put(BOTH, kind=None, kind_b=None)
    press(app, "pin in B")
    assert screen(app) == put(BOTH, kind=None, kind_b=None, pins_b=("q4",))


def test_the_address_is_never_read_again() -> None:
    app = start(pins="q3")
    app.query_params["pins"] = "q9"  # as a busy browser says it
    assert screen(app.run()).pins == ("q3",)
