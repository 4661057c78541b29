"""What components keep in the address: the session's choices, and the browser's Back."""

import pytest
from streamlit.testing.v1 import AppTest


def script() -> None:
    import streamlit as st

    from viz.ui.address import keep, kept, open_page

    open_page(st.session_state.get("page", "one"))
    if st.session_state.get("skip"):
        st.stop()
    sentence = st.session_state.get("sentence", "a")
    st.text(kept("pins", sentence, "", lambda pins: pins if pins.startswith("q") else ""))
    st.button("pin", on_click=keep, args=("pins", sentence, "q5"))


def start(**query: str) -> AppTest:
    app = AppTest.from_function(script)
    for name, value in query.items():
        app.query_params[name] = value
    return app.run()


def turn(app: AppTest, **state: object) -> AppTest:
    """As a page, a sentence or a choice changes."""
    for name, value in state.items():
        app.session_state[name] = value
    return app.run()


def addressed(app: AppTest) -> str:
    return "".join(app.query_params.get("pins", ""))


def pinned() -> AppTest:
    app = start()
    app.button[0].click().run()
    assert (app.text[0].value, addressed(app)) == ("q5", "q5")
    return app


def test_a_link_is_followed_and_nonsense_in_it_is_not() -> None:
    assert start(pins="q3").text[0].value == "q3"
    nonsense = start(pins="?")
    assert (nonsense.text[0].value, addressed(nonsense)) == ("", "")


def test_back_and_forward_are_followed(monkeypatch: pytest.MonkeyPatch) -> None:
    app = pinned()
    monkeypatch.setattr("viz.ui.address.HEARD", 0.0)  # as if some time had passed
    del app.query_params["pins"]
    assert (app.run().text[0].value, addressed(app)) == ("", "")
    app.query_params["pins"] = "q5"
    assert app.run().text[0].value == "q5"


def test_a_busy_browser_that_repeats_the_old_address_takes_nothing_back() -> None:
    app = pinned()
    del app.query_params["pins"]
    assert (app.run().text[0].value, addressed(app)) == ("q5", "q5")


def test_a_choice_made_while_the_address_is_still_the_old_one_stays() -> None:
    app = pinned()
    app.query_params["pins"] = "q1"
    app.button[0].click().run()
    assert (app.text[0].value, addressed(app)) == ("q5", "q5")


def test_another_sentence_lets_go() -> None:
    app = turn(pinned(), sentence="b")
    assert (app.text[0].value, addressed(app)) == ("", "")


def test_another_page_drops_nothing() -> None:
    app = pinned()
    del app.query_params["pins"]  # as a link to a page does
    turn(app, page="two", skip=True)
    turn(app, page="one", skip=False)
    assert (app.text[0].value, addressed(app)) == ("q5", "q5")
