"""What components tell is processed once, and the session knows up to which number."""

from typing import Any

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from viz.components.kit import sync
from viz.components.kit.browser import unpack


def script() -> None:
    import streamlit as st

    from viz.components.kit.sync import heard, news_of

    class Component:
        """What Streamlit keeps of one: what it has just told."""

        news = st.session_state.get("message")

    for key in ("grid", "map"):
        if st.session_state.get("from") == key:
            st.session_state[key] = Component
            st.text(str(news_of(key)))
    st.text(f"{heard('grid')} {heard('map')}")


def change(name: str, n: int, value: Any) -> dict[str, Any]:
    return {"name": name, "n": n, "value": value}


def tell(app: AppTest, key: str, *changes: dict[str, Any]) -> tuple[str, str]:
    app.session_state["from"], app.session_state["message"] = key, list(changes)
    app.run()
    assert not app.exception
    return app.text[0].value, app.text[1].value


@pytest.fixture
def app() -> AppTest:
    return AppTest.from_function(script)


def test_each_change_is_heard_of_once(app: AppTest) -> None:
    assert tell(app, "grid", change("open", 1, [0, 1])) == ("{'open': [0, 1]}", "1 0")
    both = change("open", 1, [0, 1]), change("view", 2, "maps")
    assert tell(app, "grid", *both) == ("{'view': 'maps'}", "2 0")
    assert tell(app, "grid", *both) == ("{}", "2 0")


def test_what_was_changed_on_an_address_that_was_left_is_not_taken(app: AppTest) -> None:
    app.session_state["opened"] = 3
    of_before, here = (change("step", n, n) | {"opened": 1 + n} for n in (1, 2))
    assert tell(app, "grid", of_before) == ("{}", "1 0")
    assert tell(app, "grid", of_before, here) == ("{'step': 2}", "2 0")


def test_each_component_has_its_own_number(app: AppTest) -> None:
    tell(app, "map", change("cell", 2, [3, 4]))
    assert tell(app, "grid", change("open", 1, [0, 1])) == ("{'open': [0, 1]}", "1 2")


def test_nothing_told_is_nothing_heard(app: AppTest) -> None:
    app.run()
    assert app.text[0].value == "0 0"
    assert tell(app, "grid") == ("{}", "0 0")


def test_who_tells_when_the_page_is_left_is_not_heard() -> None:
    def script() -> None:
        import streamlit as st

        from viz.components.kit.sync import news_of

        st.text(str(news_of("gone")))

    app = AppTest.from_function(script).run()
    assert not app.exception
    assert app.text[0].value == "{}"


def drawn() -> None:
    import numpy as np
    import streamlit as st

    from viz.components.kit.browser import Component, pack
    from viz.components.kit.sync import show

    header = {"cell": st.session_state.get("cell", 0)}
    show(Component("head_map"), pack(header, np.zeros(0, np.uint8)), "map")


def test_data_get_a_new_version_when_they_change(monkeypatch: pytest.MonkeyPatch) -> None:
    def mounted(data: bytes, **_: object) -> None:
        header, _payload = unpack(data)
        st.text(f"{header['session']} {header['version']}")

    monkeypatch.setattr(sync, "_registered", lambda component: mounted)
    app = AppTest.from_function(drawn)
    versions = []
    for cell in (0, 0, 1, 0):
        app.session_state["cell"] = cell
        app.run()
        assert not app.exception
        versions.append(app.text[0].value.split())
    assert [version for _, version in versions] == ["1", "1", "2", "3"]
    assert len({session for session, _ in versions}) == 1
