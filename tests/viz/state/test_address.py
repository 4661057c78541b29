"""The address as the server writes it: an entry a choice, none a page, and Back is believed."""

from typing import Any

from streamlit.testing.v1 import AppTest

from viz.components.kit.pack import unpack
from viz.screen import Screen


def script() -> None:
    import streamlit as st
    from streamlit.runtime.scriptrunner import get_script_run_ctx

    from viz.state import address
    from viz.state.state import change

    if (went := st.session_state.get("went")) is not None:
        run = get_script_run_ctx()
        assert run is not None
        run.is_history_navigation, run.query_string = True, went
    address.open_page(st.session_state.get("page", "explore"))
    st.button("pin", on_click=lambda: change(pins=("q5",)))
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


def test_the_address_is_never_read_again() -> None:
    app = start(pins="q3")
    app.query_params["pins"] = "q9"  # as a busy browser says it
    assert screen(app.run()).pins == ("q3",)
