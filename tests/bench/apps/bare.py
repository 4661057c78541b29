"""What Streamlit, the model and our pictures take by themselves: a text input, and what it changes.

No frame, no choices, no address: the grid of all heads and, at "?picture=map", one head large.
"""

import streamlit as st

from transformer.analysis.reading import Selection
from viz.components.head_grid.head_grid import HeadGrid, head_grid
from viz.components.head_map.head_map import HeadMap, head_map
from viz.run.cache import freeze_modules
from viz.run.previews import payload_of
from viz.run.request import answer, make_request
from viz.theme import LIGHT

if "is_set_up" not in st.session_state:
    st.set_page_config(layout="wide")
SELECTION = Selection("encoder_self", 0, 0)
# All that takes long is made before the first element: the browser renders a page anew for every
# 10 ms in which elements arrive.
checkpoint, first = st.query_params["checkpoint"], st.query_params["text"]
request = make_request(checkpoint, st.session_state.get("text", first), "none")
shown = answer(request)
grid, map = HeadGrid((SELECTION.kind,)), HeadMap(SELECTION)
grid_data = grid.data(payload_of(shown, grid), LIGHT)
has_map = st.query_params.get("picture") == "map"
map_data = map.data(payload_of(shown, map), LIGHT) if has_map else None
st.text_input("Sentence", first, key="text")
left, right = st.columns([5, 6.4], gap="large")
with left:
    head_grid(grid_data, "grid")
with right:
    if map_data is not None:
        head_map(map_data, "map")
st.session_state["is_set_up"] = True
freeze_modules()
