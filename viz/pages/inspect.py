"""Inspect: what a checkpoint's files hold, without running them."""

import streamlit as st

from transformer import CheckpointError
from viz.labels import literal
from viz.ui.inspect_circuits import circuits
from viz.ui.inspect_modules import modules
from viz.ui.inspect_positions import learned_positions
from viz.ui.inspect_tensor import tensor
from viz.ui.inspect_vocabulary import vocabulary
from viz.ui.inspected import chosen_key, inspected

PARTS = {
    "Modules": modules,
    "Tensor": tensor,
    "Circuits": circuits,
    "Vocabulary": vocabulary,
    "Positions": learned_positions,
}

top = st.container(horizontal=True, vertical_alignment="bottom", gap="medium")
with top:
    part = st.segmented_control(
        "Inspect",
        list(PARTS),
        default=next(iter(PARTS)),
        key="inspect",
        bind="query-params",
        required=True,
    )
try:
    inspected(chosen_key())
    PARTS[str(part)](chosen_key(), top)
except CheckpointError as error:
    st.error(literal(str(error)), icon=":material/error:")
