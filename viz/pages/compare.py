"""Compare: two heads side by side on one scale, their difference, and numbers for both."""

import pandas as pd
import streamlit as st

from transformer.metrics.comparison import jensen_shannon, largest_difference
from viz.labels import KIND_TITLES
from viz.ui.current import current, current_selection
from viz.ui.panel import draw_figure, metric_texts
from viz.ui.picture import ARROWS, HEATMAP, choose_picture, picture
from viz.ui.reading import choose_reading, choose_rows, usable_reading
from viz.views.head_difference import why_not
from viz.views.view import Selection


def title(letter: str, selection: Selection) -> str:
    """The heading of a selection's column."""
    return f"{letter} · {KIND_TITLES.get(selection.kind, selection.kind)} {selection}"


recording = current().recording
a, b = current_selection(), current_selection("_b")

with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
    shown = choose_picture((ARROWS, HEATMAP))
    choose_rows(a.kind)
    choose_reading()
sides = zip(st.columns(2, gap="large"), "AB", (a, b), ("", "_b"), strict=True)
for column, letter, selection, suffix in sides:
    with column:
        st.markdown(f"**{letter}** · {selection} {KIND_TITLES.get(selection.kind, selection.kind)}")
        picture(shown, selection, usable_reading(selection.kind), suffix)

difference, numbers = st.columns(2, gap="large")
with difference:
    draw_figure("head_difference", first=a, second=b)
with numbers:
    if why_not(recording, a, b) is None:
        weights = [s.attention(recording).weights(s.layer, s.head) for s in (a, b)]
        bits, largest = st.columns(2)
        bits.metric(
            "Jensen-Shannon divergence",
            f"{jensen_shannon(*weights):.4f} bits",
            help="Mean over queries: 0 where two rows are the same, 1 where they share no key.",
        )
        largest.metric("Largest difference of a weight", f"{largest_difference(*weights):.4f}")
    columns = {
        title(letter, s): metric_texts(s.attention(recording), s.layer, s.head)
        for letter, s in (("A", a), ("B", b))
    }
    st.table(pd.DataFrame(columns).fillna("does not apply"))
