"""The panel around a view: its controls, its figure, what it says in words, and its files."""

from collections.abc import Callable
from typing import Any

import streamlit as st

from transformer import Attention
from transformer.discover import discover
from transformer.metrics.metric import Metric
from viz.export import CONFIG, attention_csv, figure_html, recording_npz
from viz.ui.controls import draw_control
from viz.ui.frame import current, current_theme, default_selection
from viz.views.view import Selection, View


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
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.caption(view.explain, width="stretch")
        download(
            "HTML",
            lambda: figure_html(figure, view.title),
            f"headscope-{name}.html",
            "This figure as a page of its own",
            key=f"html {name} {given}",
        )


def head_files(selection: Selection) -> None:
    """Download one head's weights, or everything that was recorded."""
    recording = current().recording
    attention = selection.attention(recording)
    download(
        "Head as CSV",
        lambda: attention_csv(attention, selection.layer, selection.head),
        f"headscope-{selection.kind}-L{selection.layer}-H{selection.head}.csv",
        "This head's weights, a line a cell",
    )
    download(
        "All heads as NPZ",
        lambda: recording_npz(recording),
        "headscope-recording.npz",
        "Every kind, layer and head as NumPy arrays",
    )


def download(
    title: str, make: Callable[[], bytes], file: str, explain: str, key: str | None = None
) -> None:
    """A quiet button; the file is made when it is asked for."""
    st.download_button(
        title,
        make,
        file,
        key=key or file,
        help=explain,
        on_click="ignore",
        type="tertiary",
        icon=":material/download:",
    )


def metrics_of(attention: Attention, layer: int, head: int) -> dict[Metric, str]:
    """Every metric that applies to this kind of attention, with its value as text."""
    weights = attention.weights(layer, head)[None]
    same = attention.queries == attention.keys
    return {
        metric: metric.text(float(metric.compute(weights)[0]))
        for metric in discover("transformer.metrics", "METRIC").values()
        if same or not metric.same_sequence
    }


def metrics_line(attention: Attention, layer: int, head: int) -> str:
    """The metrics of a head as one line of Markdown."""
    values = metrics_of(attention, layer, head)
    return " · ".join(f"{metric.title} **{text}**" for metric, text in values.items())
