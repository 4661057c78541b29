"""Compare: two heads, of one checkpoint or of two, on one scale, their difference, and numbers."""

import pandas as pd
import streamlit as st

from transformer.analysis.metrics.comparison import jensen_shannon, largest_difference
from viz.labels import kind_title, literal
from viz.ui.current import current, current_selection
from viz.ui.opened import title
from viz.ui.panel import draw_figure, metric_texts
from viz.ui.parameter_changes import parameter_changes
from viz.ui.picture import ARROWS, HEATMAP, choose_picture, picture
from viz.ui.reading import choose_reading, choose_rows, usable_reading
from viz.ui.second import SUFFIX, beside, follows, has_second
from viz.views.head_difference import why_not
from viz.views.view import Selection

SIDES = {"A": "", "B": SUFFIX}
FORCED = (
    "Both read the same sentence, and B is made to read what A wrote: so rows and columns are the "
    "same, and the weights can be subtracted."
)
OWN = (
    "Each checkpoint splits the sentence, and writes, in its own way: rows and columns are its own."
)


def heading(letter: str, selection: Selection) -> str:
    """The heading of a selection's column."""
    of = f" of {title(current(SIDES[letter]).request.checkpoint)}" if has_second() else ""
    return f"{letter} · {kind_title(selection.kind)} {selection}{of}"


first, second = current().recording, current(SUFFIX).recording
selections = dict(zip(SIDES, (current_selection(), current_selection(SUFFIX)), strict=True))

with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
    shown = choose_picture((ARROWS, HEATMAP))
    choose_rows(selections["A"].kind)
    choose_reading()
for column, (letter, selection) in zip(st.columns(2, gap="large"), selections.items(), strict=True):
    with column:
        st.markdown(f"**{letter}**{literal(heading(letter, selection)[1:])}")
        reading = usable_reading(selection.kind, SIDES[letter])
        picture(shown, selection, reading, SIDES[letter])
if has_second():
    st.caption(FORCED if follows() else OWN)

recording, a, b = first, selections["A"], selections["B"]
if has_second():
    recording = beside(first, second)
    b = Selection(f"{b.kind}{SUFFIX}", b.layer, b.head)
difference, numbers = st.columns(2, gap="large")
with difference:
    draw_figure("head_difference", recording, first=a, second=b)
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
        heading(letter, selections[letter]): metric_texts(s.attention(recording), s.layer, s.head)
        for letter, s in (("A", a), ("B", b))
    }
    st.table(pd.DataFrame(columns).fillna("does not apply"))
if has_second():
    parameter_changes(SUFFIX)
