"""The pictures of lessons, by the names that scenes say."""

from collections.abc import Callable, Mapping
from dataclasses import replace

import streamlit as st

from transformer.complexity import Sizes
from transformer.positions.encodings import find_pairs
from transformer.training.smoothing import smoothed_target
from viz.components.cell_steps.cell_steps import CellSteps, cell_steps
from viz.components.head_map.head_map import HeadMap, head_map
from viz.components.head_view.head_view import HeadView, head_view
from viz.figures import label_smoothing, learning_rate
from viz.figures.cost_table import cost_legend
from viz.figures.curve import Curve
from viz.figures.layer_costs import SHORTEST, describe_costs, draw_costs
from viz.labels import literal
from viz.lessons.place import Place
from viz.lessons.sureness import EPSILON, second_least_sure
from viz.lessons.width import sizes_of
from viz.ui.page import Pane
from viz.ui.panel import draw_figure, plot
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


def _side(pane: Pane) -> str:
    """The first one that has sinusoids, as the tasks take it."""
    sides = pane.recording.positions
    return next(name for name, side in sides.items() if find_pairs(side.table) is not None)


def _similarity(pane: Pane, place: Place, key: str) -> None:
    n = min(64, len(pane.recording.positions[_side(pane)].table))
    side = _side(pane)
    draw_figure("encoding_similarity", pane, side=side, measure="dot product", n_positions=n)


def _rotation(pane: Pane, place: Place, key: str) -> None:
    draw_figure("encoding_shift", pane, side=_side(pane), offset=3)


def _smoothing(pane: Pane, place: Place, key: str) -> None:
    recording, position = pane.recording, second_least_sure(pane.recording)
    target, log_probs = recording.target, label_smoothing.log_probs_at(recording, position)
    smoothed = smoothed_target(target[position].id, len(log_probs), EPSILON)
    token = pane.checkpoint.tokenizer.token
    rows = label_smoothing.rows(target[position].id, smoothed, log_probs, token)
    figure = label_smoothing.draw(rows, position, target[position], current_theme())
    plot(figure, label_smoothing.describe(rows, position, target[position]), key)


def _rate(pane: Pane, place: Place, key: str) -> None:
    paper = learning_rate.paper_curve(512, 4000, 20_000)
    figure = learning_rate.draw(paper, None, Curve("", (), ()), False, current_theme())
    plot(figure, learning_rate.describe(paper, None), key)


def _costs(pane: Pane, place: Place, key: str) -> None:
    n, d = sizes_of(pane.recording, place)
    theme = current_theme()
    st.html(cost_legend())
    for column, name in zip(st.columns(2), ("operations", "longest_path"), strict=True):
        with column:
            figure = draw_costs(name, Sizes(d), max(n, SHORTEST), theme)
            plot(figure, describe_costs(name, Sizes(d), max(n, SHORTEST)), f"{key} {name}")


PICTURES: Mapping[str, Draw] = {
    "arrows": _arrows,
    "map": _map,
    "inside": _inside,
    "similarity": _similarity,
    "rotation": _rotation,
    "smoothing": _smoothing,
    "rate": _rate,
    "costs": _costs,
}
