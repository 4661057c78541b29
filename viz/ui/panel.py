"""The panel around a view: its controls, its figure, what it says in words, and its files."""

from collections.abc import Callable, Mapping
from typing import Any

import streamlit as st
from plotly.graph_objects import Figure
from streamlit.delta_generator import DeltaGenerator

from transformer import Attention
from transformer.discover import discover
from transformer.metrics.measure import measure, metrics_of
from viz.export import CONFIG, attention_csv, figure_html, recording_npz
from viz.ui.controls import draw_control
from viz.ui.current import current, current_theme, default_selection
from viz.views.view import Selection, View


def panel(name: str, **given: Any) -> None:
    """A view with its controls and its explanation. Choices that are `given` get no control."""
    view: View = discover("viz.views", "VIEW")[name]
    draw_figure(name, **given, **controls(name, given))
    st.caption(view.explain)


def controls(name: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """Draw the controls of a view that are not `given`; what they say."""
    view: View = discover("viz.views", "VIEW")[name]
    answer = current()
    with st.container(horizontal=True, vertical_alignment="bottom"):
        return {
            control.name: draw_control(
                control, answer.recording, default_selection(answer.checkpoint)
            )
            for control in view.controls
            if control.name not in given
        }


def draw_figure(name: str, **choices: Any) -> None:
    """A view's figure, with its alt text and the button that saves it."""
    view: View = discover("viz.views", "VIEW")[name]
    recording = current().recording
    figure = view.draw(recording, current_theme(), **choices)
    show_figure(figure, name, view.title, view.describe(recording, **choices), f"{name} {choices}")


def show_figure(figure: Figure, name: str, title: str, alt: str, key: str) -> DeltaGenerator:
    """A figure, its alt text, and the row below with its file: the place for further files.

    key: unique on the page.
    """
    plot(figure, alt, key)
    files = st.container(horizontal=True)
    with files:
        download(
            "Figure as HTML",
            lambda: figure_html(figure, title),
            f"headscope-{name}.html",
            "This figure as a page of its own",
            key=f"html {key}",
        )
    return files


def plot(figure: Figure, alt: str, key: str, **config: Any) -> None:
    """A figure by itself. key: unique on the page; config: beside Plotly's usual options."""
    st.plotly_chart(figure, key=f"figure {key}", theme=None, config=CONFIG | config, alt=alt)


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


def metric_texts(attention: Attention, layer: int, head: int) -> dict[str, str]:
    """Title -> value with its unit, for every metric that applies to this kind of attention."""
    values = measure(attention, layer)
    return {
        metric.title: metric.text(float(values[name][head]))
        for name, metric in metrics_of(attention).items()
    }
