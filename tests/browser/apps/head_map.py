"""A page with one head map; the address says which: ?of=cross or ?of=600x600&kind=cross."""

import streamlit as st

from tests.browser.apps.maps import drawn, translated
from transformer.analysis.reading import Selection
from viz.components.head_map.head_map import HeadMap, head_map, pack_head_map
from viz.components.token_rows.token_rows import TokenRows, token_rows
from viz.theme import theme

st.set_page_config(layout="wide")
query = st.query_params
of, kind = query.get("of", "cross"), query.get("kind", "cross")
layer, head = int(query.get("layer", 0)), int(query.get("head", 0))
map = drawn(*(int(n) for n in of.split("x")), kind) if "x" in of else translated(of)
state = st.session_state


def chosen(cell: list[int]) -> None:
    state.cell = tuple(cell)


def zoomed(region: list[int]) -> None:
    state.region = tuple(region)


@st.cache_resource
def payload(of: str, kind: str, layer: int, head: int, region: tuple[int, ...] | None) -> bytes:
    return pack_head_map(map, layer, head, region)  # type: ignore[arg-type]


look = theme(st.context.theme.type)
with st.columns([5, 6], gap="large")[1] if "wide" not in query else st.container():
    if "x" not in of:
        rows = TokenRows()
        token_rows(rows.data(rows.payload(map.recording), look), "rows")
    data = HeadMap(Selection(kind, layer, head)).data(
        payload(of, kind, layer, head, state.get("region")),
        look,
        cell=state.get("cell"),
        path="path" in query,
        asks=True,
    )
    head_map(data, "map", on_cell=chosen, on_region=zoomed)
    st.write(f"chosen {state.get('cell')}, region {state.get('region')}")
