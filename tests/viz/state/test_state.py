"""Widgets show what the Screen says, and only choose on it."""

from streamlit.testing.v1 import AppTest

from viz.screen import Screen


def script() -> None:
    import streamlit as st

    from viz.state.state import bound, bound_entry, change, session

    layer = session().screen.layer or 0
    st.selectbox("Layer", range(3), layer, **bound("layer", layer, 0))
    seed = int(dict(session().screen.options).get("seed", 4))
    st.number_input("Seed", 0, 9, seed, **bound_entry("options", "seed", seed, 4))
    st.button("grid", on_click=lambda: change(layer=2))


def screen(app: AppTest) -> Screen:
    return app.session_state["session"].screen


def test_a_widget_chooses_and_its_usual_value_is_the_default() -> None:
    app = AppTest.from_function(script).run()
    app.selectbox[0].set_value(1).run()
    app.number_input[0].set_value(7).run()
    assert screen(app) == Screen(layer=1, options=(("seed", 7),))
    app.selectbox[0].set_value(0).run()
    app.number_input[0].set_value(4).run()
    assert screen(app) == Screen()


def test_a_widget_follows_what_is_chosen_elsewhere() -> None:
    app = AppTest.from_function(script).run()
    app.button[0].click().run()
    assert app.selectbox[0].value == 2
    app.selectbox[0].set_value(1).run()
    assert screen(app).layer == 1


def test_what_a_busy_browser_says_of_the_old_widget_is_not_a_choice() -> None:
    app = AppTest.from_function(script).run()
    old = app.selectbox[0].id
    app.button[0].click().run()
    assert app.selectbox[0].id != old
