"""Whatever somebody wrote into the address, a field for a whole number shows one."""

import pytest
from streamlit.testing.v1 import AppTest


def script() -> None:
    import streamlit as st

    from viz.ui.whole_number import whole_number

    st.write(repr(whole_number("Seed", 0, 9999, 3, "seed")))


def seed(said: str) -> str:
    """What is shown where the address says this."""
    app = AppTest.from_function(script)
    app.query_params["seed"] = said
    app.run()
    assert not app.exception
    return app.markdown[0].value


@pytest.mark.parametrize("said", ["7", "7.0", "07"])
def test_a_number_in_the_address_is_shown(said: str) -> None:
    assert seed(said) == "7"


@pytest.mark.parametrize("said", ["1e400", "-1e400", "nan", "-5", "10000", "cat", "9" * 400, ""])
def test_what_is_no_number_of_the_field_gives_the_default(said: str) -> None:
    assert seed(said) == "3"


def test_what_is_chosen() -> None:
    app = AppTest.from_function(script).run()
    app.number_input(key="seed").set_value(12).run()
    assert app.markdown[0].value == "12"
