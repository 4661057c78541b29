"""The panel around a view: its controls, its figure, what it says in words, and its files."""

from typing import Any

import streamlit as st
from plotly.graph_objects import Figure
from streamlit.delta_generator import DeltaGenerator

from transformer import Attention, Recording
from transformer.analysis.metrics.measure import measure, metrics_of
from transformer.discover import discover
from viz.export import CONFIG, figure_html
from viz.ui.controls import draw_control
from viz.ui.page import Pane
from viz.ui.saving import download
from viz.ui.stage import on_stage
from viz.ui.state import current_theme
from viz.views.view import View

HEIGHT = 380
"""Of a chart on a stage at most, in px; it is enlarged there, as viz/ui/stage_style.py says."""


def panel(name: str, pane: Pane, **given: Any) -> None:
    """A view with its controls and its explanation. given: choices that get no control."""
    view: View = discover("viz.views", "VIEW")[name]
    asked = {each.name: each for each in view.controls if each.name not in given}
    beside = asked.pop(view.beside, None)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        chosen = given | {name: draw_control(control, pane) for name, control in asked.items()}
    if beside is None:
        draw_figure(name, pane.recording, **chosen)
    else:
        options = beside.options(pane.recording)
        for column, option in zip(st.columns(len(options)), options, strict=True):
            with column:
                draw_figure(name, pane.recording, **chosen | {beside.name: option})
    st.caption(view.explain)


def draw_figure(name: str, recording: Recording, **choices: Any) -> None:
    """A view's figure, with its alt text and the button that saves it."""
    view: View = discover("viz.views", "VIEW")[name]
    figure = view.draw(recording, current_theme(), **choices)
    show_figure(figure, name, view.title, view.describe(recording, **choices), f"{name} {choices}")


def show_figure(
    figure: Figure, name: str, title: str, alt: str, key: str | None = None
) -> DeltaGenerator:
    """A figure, its alt text, and the row below with its file: the place for further files.

    key: unique on the page; the name when left out.
    """
    key = key or name
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
    if on_stage():
        figure.update_layout(height=min(figure.layout.height or HEIGHT, HEIGHT))
    st.plotly_chart(figure, key=f"figure {key}", theme=None, config=CONFIG | config, alt=alt)


def metric_texts(attention: Attention, layer: int, head: int) -> dict[str, str]:
    """Title -> value with its unit, for every metric that applies to this kind of attention."""
    values = measure(attention.only(head), layer)
    return {
        metric.title: metric.text(float(values[name]))
        for name, metric in metrics_of(attention).items()
    }
