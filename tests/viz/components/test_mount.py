"""The components mount in a script, send their bytes, and say that nothing was done yet."""

from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from viz.components.kit.browser import unpack
from viz.theme import LIGHT


def _grid() -> None:
    import streamlit as st

    from viz.components.head_grid.head_grid import HeadGrid, head_grid
    from viz.components.kit.browser import pack
    from viz.theme import LIGHT

    head_grid(HeadGrid(("cross",)).data(pack({}), LIGHT, selected=("cross", 1, 2)), "grid")
    st.write("mounted")


def _player() -> None:
    import streamlit as st

    from viz.components.decode_player.decode_player import DecodePlayer, decode_player
    from viz.components.kit.browser import pack
    from viz.theme import LIGHT

    decode_player(DecodePlayer().data(pack({}), LIGHT, step=3), "player")
    st.write("mounted")


def _rows() -> None:
    import streamlit as st

    from viz.components.kit.browser import pack
    from viz.components.token_rows.token_rows import TokenRows, token_rows
    from viz.theme import LIGHT

    token_rows(TokenRows().data(pack({}), LIGHT, address="/somewhere"), "rows")
    st.write("mounted")


@pytest.mark.parametrize(
    ("script", "state"),
    [
        (_grid, {"selected": ["cross", 1, 2], "view": {"show": "maps", "sort": "layer", "top": 0}}),
        (_player, {"step": 3}),
        (_rows, {"address": "/somewhere", "key": "rows"}),
    ],
)
def test_mounts(script: Any, state: dict[str, Any]) -> None:
    app = AppTest.from_function(script).run()
    assert not app.exception
    assert app.markdown[0].value == "mounted"
    (component,) = app.get("bidi_component")
    header, (payload,) = unpack(component.proto.bytes)
    assert header["palette"]["name"] == LIGHT.name
    assert {name: header[name] for name in state} == state
    assert unpack(payload.tobytes())[1] == []
