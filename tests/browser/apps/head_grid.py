"""The grid of all heads alone: ?layers=, heads=, tokens=, kind=, scale=, per_head= say of what.

What the grid tells stands below it, and comes back to it.
"""

from typing import Any

import streamlit as st

from tests.random_maps import random_map
from viz.components.head_grid.head_grid import HeadGrid, head_grid, pack_kinds
from viz.theme import theme

st.set_page_config(layout="wide")
asked: Any = st.query_params
n = int(asked.get("tokens", 9))
map = random_map(
    int(asked.get("layers", 3)),
    int(asked.get("heads", 8)),
    n,
    n + (asked.get("kind") == "cross"),
    asked.get("kind", "encoder_self"),
    asked.get("scale", "share"),
    asked.get("per_head", "1") == "1",
)
state = st.session_state
state.setdefault("open", (map.kind, 1, 2))
state.setdefault("view", ("maps", "layer", 0))
if st.button("From outside"):
    state["open"], state["view"] = (map.kind, 0, 0), ("distance", "layer", 10)


def keep(name: str, *value: Any) -> None:
    """What the grid told."""
    state[name] = value


left, right = st.columns([5, 6], gap="large")
show, sort, top = state["view"]
with left:
    data = HeadGrid((map.kind,)).data(
        pack_kinds([map]),
        theme(st.context.theme.type),
        selected=state["open"],
        show=show,
        sort=sort,
        top=top,
    )
    head_grid(
        data,
        "grid",
        on_open=lambda cell: keep("open", *cell),
        on_view=lambda view: keep("view", *view.values()),
    )
right.write(f"told {tuple(state['open'][1:])} {tuple(state['view'])}")
