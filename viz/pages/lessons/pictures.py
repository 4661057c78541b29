"""The pictures of lessons, by the names that scenes say."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import streamlit as st

from transformer.analysis.selection import Selection
from transformer.complexity import Sizes
from transformer.positions.encodings import find_pairs
from transformer.training.smoothing import smoothed_target
from viz.components.cell_steps.cell_steps import CellSteps
from viz.components.head_map.head_map import HeadMap
from viz.components.head_view.head_view import HeadView
from viz.exhibits.exhibit import Exhibit, PictureAt
from viz.figures import label_smoothing, learning_rate
from viz.figures.cost_table import cost_samples
from viz.figures.layer_costs import QUANTITIES, SHORTEST, cost_chart, describe_costs
from viz.figures.over_steps import OverSteps
from viz.labels import literal
from viz.lessons.place import Place
from viz.lessons.sureness import EPSILON, second_least_sure
from viz.lessons.width import sizes_of
from viz.painters.table_html import samples_html
from viz.screen import Screen
from viz.state.page import Pane
from viz.state.state import current_theme
from viz.ui.panel import view_exhibit
from viz.ui.saving import for_a_paper
from viz.ui.showing import show

Make = Callable[[Pane, Place], Mapping[str, Exhibit]]
"""(of the answer that the scene is shown on, the row that it means) -> what stands side by side, by
its name among the figures of the page that the scene opens."""
NEEDED: Mapping[str, tuple[str, ...]] = {
    "inside": ("scores",),
    "similarity": ("sinusoids",),
    "rotation": ("sinusoids",),
    "smoothing": ("writes",),
    "costs": ("scores",),
}
"""Needs of a picture that a checkpoint must meet (viz/lessons/needs.py); others have none."""


def draw_picture(name: str, pane: Pane, place: Place, key: str, opened: Screen) -> None:
    """The picture of this name; a sentence where there is none.

    pane: of the answer that the scene is shown on; opened: where the same picture stands on a page
    of its own, which a figure of it leads to.
    """
    make = PICTURES.get(name)
    if make is None:
        st.caption(f"There is no picture {literal(name)}.")
        return
    exhibits = make(pane, place)
    if name == "costs":
        st.html(samples_html(cost_samples(), current_theme()))
    for column, each in zip(st.columns(len(exhibits)), exhibits.values(), strict=True):
        with column:
            show(replace(each, pane=pane), f"{name} {key} {each.title}")
    for_a_paper(replace(pane, screen=opened), exhibits, f"paper {key}")


def _selection(place: Place) -> Selection:
    return Selection(place.kind, place.layer, place.head)


def _arrows(pane: Pane, place: Place) -> Mapping[str, Exhibit]:
    state = {"head": place.head, "pins": (f"q{place.query}",)}
    return {"picture": Exhibit("Arrows", PictureAt(HeadView(place.kind, place.layer), state))}


def _map(pane: Pane, place: Place) -> Mapping[str, Exhibit]:
    state = {"pins": (f"q{place.query}",)}
    return {"picture": Exhibit("Heat map", PictureAt(HeadMap(_selection(place)), state))}


def _inside(pane: Pane, place: Place) -> Mapping[str, Exhibit]:
    weights = pane.recording.attentions[place.kind].weights(place.layer, place.head)
    cell = (place.query, int(weights[place.query].argmax()))
    return {"picture": Exhibit("Inside", PictureAt(CellSteps(_selection(place), cell)))}


def _side(pane: Pane) -> str:
    """The first one that has sinusoids, as the tasks take it."""
    sides = pane.recording.positions
    return next(name for name, side in sides.items() if find_pairs(side.table) is not None)


def _similarity(pane: Pane, place: Place) -> Mapping[str, Exhibit]:
    side = _side(pane)
    n = min(64, len(pane.recording.positions[side].table))
    choices: dict[str, Any] = {"side": side, "measure": "dot product", "n_positions": n}
    return {"encoding_similarity": view_exhibit("encoding_similarity", pane, **choices)}


def _rotation(pane: Pane, place: Place) -> Mapping[str, Exhibit]:
    return {"encoding_shift": view_exhibit("encoding_shift", pane, side=_side(pane), offset=3)}


def _smoothing(pane: Pane, place: Place) -> Mapping[str, Exhibit]:
    recording, position = pane.recording, second_least_sure(pane.recording)
    target = recording.target[position]
    log_probs = label_smoothing.log_probs_at(recording, position)
    smoothed = smoothed_target(target.id, len(log_probs), EPSILON)
    token = pane.checkpoint.tokenizer.token
    rows = label_smoothing.rows(target.id, smoothed, log_probs, token)
    return {
        "label-smoothing": Exhibit(
            "Label smoothing",
            label_smoothing.chart(rows, position, target),
            label_smoothing.describe(rows, position, target),
        )
    }


def _rate(pane: Pane, place: Place) -> Mapping[str, Exhibit]:
    paper = learning_rate.paper_curve(512, 4000, 20_000)
    return {
        "learning-rate": Exhibit(
            "Learning rate",
            learning_rate.chart(paper, None, OverSteps("", (), ()), False),
            learning_rate.describe(paper, None),
            about="checkpoint",
        )
    }


def _costs(pane: Pane, place: Place) -> Mapping[str, Exhibit]:
    n, d = sizes_of(pane.recording, place)
    n = max(n, SHORTEST)
    return {
        name: Exhibit(
            QUANTITIES[name],
            cost_chart(name, Sizes(d), n, has_legend=False),
            describe_costs(name, Sizes(d), n),
            about="checkpoint",
        )
        for name in ("operations", "longest_path")
    }


PICTURES: Mapping[str, Make] = {
    "arrows": _arrows,
    "map": _map,
    "inside": _inside,
    "similarity": _similarity,
    "rotation": _rotation,
    "smoothing": _smoothing,
    "rate": _rate,
    "costs": _costs,
}
