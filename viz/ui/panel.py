"""The panel around a view: its controls, its figure, what it says in words, and its files."""

from typing import Any

import streamlit as st

from transformer import Attention
from transformer.discover import discover
from transformer.metrics.metric import Metric
from viz.ui.controls import draw_control
from viz.ui.frame import current, current_theme, default_selection
from viz.views.view import View

CONFIG = {"displaylogo": False, "showSendToCloud": False, "modeBarButtonsToRemove": ["lasso2d"]}


def panel(name: str, **given: Any) -> None:
    """Draw the view of a name. Choices that are `given` get no control of their own."""
    view: View = discover("viz.views", "VIEW")[name]
    answer, palette = current(), current_theme()
    missing = [control for control in view.controls if control.name not in given]
    if missing:
        with st.container(horizontal=True, vertical_alignment="bottom"):
            for control in missing:
                given[control.name] = draw_control(
                    control, answer.recording, default_selection(answer.checkpoint)
                )
    figure = view.draw(answer.recording, palette, **given)
    st.plotly_chart(
        figure,
        key=f"figure {name} {given}",
        theme=None,
        config=CONFIG,
        alt=view.describe(answer.recording, **given),
    )
    st.caption(view.explain)


def metrics_line(attention: Attention, layer: int, head: int) -> str:
    """Every metric that applies, as one line of Markdown."""
    weights = attention.weights(layer, head)[None]
    same = attention.queries == attention.keys
    return " · ".join(
        f"{metric.title} **{metric.text(float(metric.compute(weights)[0]))}**"
        for metric in discover("transformer.metrics", "METRIC").values()
        if same or not metric.same_sequence
    )
