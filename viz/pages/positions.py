"""Positions: the positional encodings as the model used them."""

import streamlit as st

from transformer.discover import discover
from viz.ui.frame import current
from viz.ui.panel import panel
from viz.views.view import View

views: dict[str, View] = discover("viz.views", "VIEW")
names = [name for name, view in views.items() if view.needs == "positions"]
if current().recording.positions:
    chosen = st.segmented_control(
        "View",
        names,
        default=names[0],
        format_func=lambda name: views[name].title,
        key="view",
        bind="query-params",
        required=True,
    )
    panel(str(chosen))
else:
    st.info("This model adds no positional encodings.")
