"""The panel around a view: its controls, its figure, and what it says in words."""

from typing import Any

from transformer import Attention, Recording
from transformer.analysis.metrics.measure import measure, metrics_of
from transformer.discover import discover
from viz.app_packages import st
from viz.exhibits.chart import Chart
from viz.exhibits.exhibit import Exhibit
from viz.state.page import Pane
from viz.ui.columns import columns
from viz.ui.controls import draw_control, value_on_screen
from viz.ui.showing import show_with_files
from viz.views.of_page import views_of_page
from viz.views.view import Place, View


def panel(name: str, pane: Pane, **choices: Any) -> None:
    """A view with its controls and its explanation. choices: those that get no control."""
    view: View = discover("viz.views", "VIEW")[name]
    controls = {each.name: each for each in view.controls if each.name not in choices}
    beside = controls.pop(view.beside, None)
    with st.container():
        with st.container(horizontal=True, vertical_alignment="bottom", key=f"under {name}"):
            own = {name: draw_control(control, pane) for name, control in controls.items()}
        chosen = choices | own
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
    exhibit = view_exhibit(name, pane, recording, **choices)
    show_with_files(pane, exhibit, name, f"{name} {choices}")


def view_exhibits(place: Place, pane: Pane) -> dict[str, Exhibit]:
    """The views that a page lists, with the choices of the Screen; the chosen one first."""
    views = views_of_page(place, pane.recording)
    order = sorted(views, key=lambda name: name != pane.screen.view)
    return {
        name: view_exhibit(
            name, pane, **{it.name: value_on_screen(it, pane) for it in views[name].controls}
        )
        for name in order
    }


def view_exhibit(
    name: str, pane: Pane, recording: Recording | None = None, **choices: Any
) -> Exhibit:
    """A view of the pane's recording, or of another one, with these choices."""
    view: View = discover("viz.views", "VIEW")[name]
    of = pane.recording if recording is None else recording
    content = view.content(of, **choices)
    if pane.reading.words and isinstance(content, Chart):
        content = content.in_words
    return Exhibit(view.title, content, view.describe(of, **choices))


def metric_texts(attention: Attention, layer: int, head: int) -> dict[str, str]:
    """Title -> value with its unit, for every metric that applies to this kind of attention."""
    values = measure(attention.only(head), layer)
    return {
        metric.title: metric.text(float(values[name]))
        for name, metric in metrics_of(attention).items()
    }
