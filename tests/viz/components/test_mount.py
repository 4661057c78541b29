"""The components mount in a script, send their bytes, and say that nothing was done yet."""

from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from viz.components.kit.pack import unpack
from viz.theme import LIGHT


def _grid() -> None:
    import streamlit as st

    from viz.components.head_grid.head_grid import head_grid
    from viz.components.kit.pack import pack
    from viz.theme import LIGHT

    st.write(str(head_grid(pack({}), (1, 2), LIGHT, key="grid")))


def _player() -> None:
    import streamlit as st

    from viz.components.decode_player.decode_player import decode_player
    from viz.components.kit.pack import pack
    from viz.theme import LIGHT

    st.write(str(decode_player(pack({}), 3, LIGHT, key="player")))


def _rows() -> None:
    import streamlit as st

    from transformer.tokenizer import Token
    from viz.components.token_rows.token_rows import token_rows
    from viz.theme import LIGHT

    token_rows([Token(5, "▁It")], [Token(6, "▁Es"), Token(2, "</s>", True)], LIGHT, key="rows")
    st.write("mounted")


@pytest.mark.parametrize(
    ("script", "written"), [(_grid, "None"), (_player, "3"), (_rows, "mounted")]
)
def test_mounts(script: Any, written: str) -> None:
    app = AppTest.from_function(script).run()
    assert not app.exception
    assert app.markdown[0].value == written
    (component,) = app.get("bidi_component")
    if component.proto.bytes:
        header, (payload,) = unpack(component.proto.bytes)
        assert header["palette"]["name"] == LIGHT.name
        assert unpack(payload.tobytes())[1] == []
