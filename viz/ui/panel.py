"""The panel around a view: its controls, its figure, what it says in words, and its files."""

from collections.abc import Mapping
from typing import Any

import streamlit as st
from plotly.graph_objects import Figure
from streamlit.delta_generator import DeltaGenerator

from transformer import Attention, Recording
from transformer.analysis.metrics.measure import measure, metrics_of
from transformer.discover import discover
from viz.export import CONFIG, figure_html
from viz.ui.controls import draw_control
from viz.ui.current import current, current_theme, default_selection
from viz.ui.saving import download
from viz.views.view import View


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


def draw_figure(name: str, recording: Recording | None = None, **choices: Any) -> None:
    """A view's figure, with its alt text and the button that saves it.

    recording: another one than that on screen.
    """
    view: View = discover("viz.views", "VIEW")[name]
    recording = recording or current().recording
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


def metric_texts(attention: Attention, layer: int, head: int) -> dict[str, str]:
    """Title -> value with its unit, for every metric that applies to this kind of attention."""
    values = measure(attention.only(head), layer)
    return {
        metric.title: metric.text(float(values[name]))
        for name, metric in metrics_of(attention).items()
    }
