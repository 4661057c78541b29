"""How alike the positions are that a model has learned."""

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from transformer.position_analysis import similarity
from viz.ui.current import current_theme
from viz.ui.inspected import Key, inspected, tensor_of
from viz.ui.panel import show_figure
from viz.views import position_similarity

EXPLAIN = (
    "The cosine of the angle between the vectors that the model has learned for any two of its "
    "positions: 1 where both point the same way. It is taken of all of them, whatever the sentence."
)
TABLE = "positions.table"
FIXED = {
    "sinusoidal": "Its encodings are fixed sinusoids, which need not be saved.",
    "none": "It adds no positional encodings.",
}


def learned_positions(key: Key, top: DeltaGenerator) -> None:
    """The cosine between any two learned positions; or why there are none."""
    found = inspected(key)
    there = next((each for each in found.tensors if each.name == TABLE), None)
    if there is None:
        why = FIXED.get(found.config.positions, f"{TABLE} is missing.")
        st.info(f"This model has no learned positions. {why}")
        return
    if len(there.shape) != 2 or not there.n_values:
        st.info(f"{TABLE} is no matrix with a row a position.")
        return
    cosines = similarity(tensor_of(key, TABLE), normalised=True)
    figure, said = st.columns([3, 2], gap="large")
    with figure:
        show_figure(
            position_similarity.draw(cosines, current_theme()),
            "position-similarity",
            "Learned positions",
            position_similarity.describe(cosines),
            key="position_similarity",
        )
    said.caption(EXPLAIN)
