"""Our views of random attention: "grid 128 3" is the grid of 128 tokens in their third turn."""

import gc

import streamlit as st
import torch

from tests.bench.attention import HEADS, random_map
from viz.components.head_grid.head_grid import HeadGrid, head_grid, pack_kinds
from viz.components.head_view.head_view import HeadView, head_view, pack_head_view
from viz.theme import LIGHT


@st.cache_resource
def freeze() -> None:
    """What the app does after loading a model."""
    torch.set_num_threads(1)
    gc.collect()
    gc.freeze()


freeze()
view, n_tokens, turn = st.text_input("Sentence", "grid 16 0").split()
attention = random_map(int(n_tokens), int(turn))
if view == "grid":
    head_grid(HeadGrid((attention.kind,)).data(pack_kinds([attention]), LIGHT), "grid")
else:
    payload = pack_head_view(attention, 0)
    data = HeadView(attention.kind, 0).data(payload, LIGHT, head=0, heads=tuple(range(HEADS)))
    head_view(data, "heads")
