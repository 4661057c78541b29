"""A head view of random attention. In the URL: its state, and what size it is.

n: tokens, default 12. heads: of the layer, default 12. kind: default cross. shown, pins,
lines: the state.
"""

from typing import Any

import streamlit as st

from tests.browser.apps.random_attention import random_map
from viz.components.head_view.head_view import HeadView, head_view, pack_head_view
from viz.theme import theme

HEAD = 3
asked = st.query_params


def keep(view: dict[str, Any]) -> None:
    """The state goes into the URL."""
    st.query_params["shown"] = ",".join(map(str, view["heads"]))
    st.query_params["pins"] = ",".join(view["pins"])
    st.query_params["lines"] = str(view["lines"])


@st.cache_data
def payload(kind: str, n_heads: int, n_tokens: int) -> bytes:
    """Packed once."""
    return pack_head_view(random_map(kind, n_heads, n_tokens), 0)


def listed(name: str) -> list[str]:
    """A parameter's values; none where it is empty."""
    return [value for value in asked[name].split(",") if value]


heads = tuple(map(int, listed("shown"))) if "shown" in asked else (HEAD,)
pins = tuple(listed("pins")) if "pins" in asked else ()
kind = asked.get("kind", "cross")
data = HeadView(kind, 0).data(
    payload(kind, int(asked.get("heads", 12)), int(asked.get("n", 12))),
    theme(st.context.theme.type),
    head=HEAD,
    heads=heads,
    pins=pins,
    lines=int(asked.get("lines", 5)),
)
head_view(data, "view", on_view=keep)
st.html(f'<p id="state">{list(heads)} {list(pins)}</p>')
