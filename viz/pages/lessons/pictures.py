"""The pictures of lessons, by the names that scenes say."""

from collections.abc import Callable, Mapping
from dataclasses import replace

import streamlit as st

from viz.components.cell_steps.cell_steps import CellSteps, cell_steps
from viz.components.head_map.head_map import HeadMap, head_map
from viz.components.head_view.head_view import HeadView, head_view
from viz.labels import literal
from viz.lessons.place import Place
from viz.ui.page import Pane
from viz.ui.payloads import caption_of, payload_of
from viz.ui.request import Answer
from viz.ui.state import current_theme
from viz.views.view import Selection

Draw = Callable[[Pane, Place, str], None]
"""(the answer that the scene is shown on, the row that it means, a key)"""


def draw_picture(said: str, pane: Pane, shown: Answer, place: Place, key: str) -> None:
    """The picture of this name; a sentence where there is none."""
    draw = PICTURES.get(said)
    if draw is None:
        st.caption(f"There is no picture {literal(said)}.")
        return
    draw(replace(pane, shown=shown), place, key)


def _selection(place: Place) -> Selection:
    return Selection(place.kind, place.layer, place.head)


def _arrows(pane: Pane, place: Place, key: str) -> None:
    view, answer = HeadView(place.kind, place.layer), pane.answer
    data = view.data(
        payload_of(answer, view),
        current_theme(),
        head=place.head,
        pins=(f"q{place.query}",),
    )
    head_view(data, f"arrows {key}", caption_of(answer, view.title(pane.recording)))


def _map(pane: Pane, place: Place, key: str) -> None:
    view, answer = HeadMap(_selection(place)), pane.answer
    data = view.data(payload_of(answer, view), current_theme(), pins=(f"q{place.query}",))
    head_map(data, f"map {key}", caption_of(answer, view.title(pane.recording)))


def _inside(pane: Pane, place: Place, key: str) -> None:
    weights = pane.recording.attentions[place.kind].weights(place.layer, place.head)
    cell = (place.query, int(weights[place.query].argmax()))
    view, answer = CellSteps(_selection(place), cell), pane.answer
    data = view.data(payload_of(answer, view), current_theme())
    cell_steps(data, f"inside {key}", caption_of(answer, view.title(pane.recording)))


PICTURES: Mapping[str, Draw] = {"arrows": _arrows, "map": _map, "inside": _inside}
