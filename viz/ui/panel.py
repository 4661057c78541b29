"""The panel around a view: its controls, its figure, what it says in words, and its files."""

from functools import partial
from typing import Any

import streamlit as st
from plotly.graph_objects import Figure
from streamlit.delta_generator import DeltaGenerator

from transformer import Attention, Recording
from transformer.analysis.metrics.measure import measure, metrics_of
from transformer.discover import discover
from transformer.extras import missing
from viz.exhibits.exhibit import Exhibit, PlotlyFigure
from viz.exhibits.table import Table, Tables
from viz.export import CONFIG, figure_html
from viz.notebook.printed import printed_once
from viz.painters.charts import AnyChart, figure
from viz.painters.table_html import table_html
from viz.state.page import Pane
from viz.state.state import current_theme
from viz.talks.stage import on_wall
from viz.theme import Theme
from viz.ui.columns import columns, share_here
from viz.ui.controls import draw_control, said
from viz.ui.saving import download, for_a_paper
from viz.views.listed import listed
from viz.views.view import Place, View


def panel(name: str, pane: Pane, **given: Any) -> None:
    """A view with its controls and its explanation. given: choices that get no control."""
    view: View = discover("viz.views", "VIEW")[name]
    asked = {each.name: each for each in view.controls if each.name not in given}
    beside = asked.pop(view.beside, None)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        chosen = given | {name: draw_control(control, pane) for name, control in asked.items()}
    if beside is None:
        draw_figure(name, pane, **chosen)
    else:
        options = beside.options(pane.recording)
        for column, option in zip(columns(len(options)), options, strict=True):
            with column:
                draw_figure(name, pane, **chosen | {beside.name: option})
    st.caption(view.explain)


def draw_figure(name: str, pane: Pane, recording: Recording | None = None, **choices: Any) -> None:
    """A view's figure, with its alt text and the buttons that save it.

    recording: where it is not the pane's.
    """
    show_figure(pane, view_shown(name, pane, recording, **choices), name, f"{name} {choices}")


def view_figures(place: Place, pane: Pane) -> dict[str, Exhibit]:
    """The views that a page lists, with the choices of the Screen; the chosen one first."""
    views = listed(place, pane.recording)
    order = sorted(views, key=lambda name: name != pane.screen.view)
    return {
        name: view_shown(name, pane, **{it.name: said(it, pane) for it in views[name].controls})
        for name in order
    }


def view_shown(
    name: str, pane: Pane, recording: Recording | None = None, **choices: Any
) -> Exhibit:
    """A view of the pane's recording, or of another one, with these choices."""
    view: View = discover("viz.views", "VIEW")[name]
    of = pane.recording if recording is None else recording
    draw, says = partial(view.draw, of), view.describe(of, **choices)
    return Exhibit(view.title, PlotlyFigure(lambda theme: draw(theme, **choices)), says)


def show_figure(pane: Pane, shown: Exhibit, name: str, key: str | None = None) -> DeltaGenerator:
    """A figure of Plotly's, and the row below with its files: the place for further ones.

    name: of its files; key: unique on the page; the name when left out.
    """
    key = key or name
    drawn = plot(shown, key)
    files = st.container(horizontal=True)
    with files:
        download(
            "Figure as HTML",
            lambda: figure_html(drawn, shown.title),
            f"headscope-{name}.html",
            "This figure as a page of its own",
            key=f"html {key}",
        )
        for_a_paper(pane, {name: shown}, f"paper {key}")
    return files


def plot(shown: Exhibit, key: str, **config: Any) -> Figure:
    """A figure by itself, on a wall as for a paper; the page that draws it offers it for one.

    key: unique on the page; config: beside Plotly's usual options.
    """
    content = shown.small or shown.content
    assert isinstance(content, AnyChart)
    theme = current_theme()
    drawn = figure(content, theme)
    if on_wall() and not missing("paper"):
        st.html(printed_once(content, theme, shown.says, share_here()))
        return drawn
    look: Any = {"theme": None, "config": CONFIG | config, "alt": shown.says}
    st.plotly_chart(drawn, key=f"figure {key}", **look)
    return drawn


def show_table(shown: Exhibit | Table | Tables, theme: Theme | None = None) -> None:
    """A table; where it is an exhibit, the page that draws it offers it for a paper."""
    content = shown.content if isinstance(shown, Exhibit) else shown
    assert isinstance(content, Table | Tables)
    st.html(table_html(content, theme or current_theme()))


def metric_texts(attention: Attention, layer: int, head: int) -> dict[str, str]:
    """Title -> value with its unit, for every metric that applies to this kind of attention."""
    values = measure(attention.only(head), layer)
    return {
        metric.title: metric.text(float(values[name]))
        for name, metric in metrics_of(attention).items()
    }
