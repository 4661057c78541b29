"""Positions: how the model tells its tokens apart by place."""

import streamlit as st

from transformer.discover import discover
from viz.position_words import schemes
from viz.ui.current import current
from viz.ui.panel import controls, draw_figure, panel
from viz.views.token_vectors import PARTS
from viz.views.view import View

TOGETHER = "token_vectors"
"""The one view whose parts say more side by side."""
PARTS_SHOWN = ("positions", "rotary", "biases")
"""What of a recording this page is about, in the order of its views."""

recording = current().recording
views: dict[str, View] = discover("viz.views", "VIEW")
names = [
    name
    for part in PARTS_SHOWN
    for name, view in views.items()
    if view.needs == part and view.applies_to(recording)
]
if names:
    st.markdown("  \n".join(schemes(recording)))
    name = st.segmented_control(
        "View",
        names,
        default=names[0],
        format_func=lambda name: views[name].title,
        key="view",
        bind="query-params",
        required=True,
    )
    if name == TOGETHER:
        chosen = controls(name, {"part": None})
        for column, part in zip(st.columns(len(PARTS)), PARTS, strict=True):
            with column:
                draw_figure(name, part=part, **chosen)
        st.caption(views[name].explain)
    else:
        panel(str(name))
else:
    st.info("This model adds no positional encodings, as far as this pass shows.")
