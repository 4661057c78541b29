"""Training: the smoothed labels, the learning rate, the losses, and how the heads came about."""

from collections.abc import Callable
from dataclasses import dataclass

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from viz.pages.training.heads import TITLE, heads_over_steps
from viz.pages.training.loss import losses
from viz.pages.training.rate import rates
from viz.pages.training.smoothing import smoothing
from viz.ui.controls import choose_head
from viz.ui.page import Page, Pane
from viz.ui.state import bound

HEADS = "heads"


@dataclass(frozen=True)
class Topic:
    """A part of the page. draw: given the pane, and the row in which the topic is chosen."""

    title: str
    draw: Callable[[Pane, DeltaGenerator], None]


TOPICS = {
    "smoothing": Topic("Label smoothing", smoothing),
    "rate": Topic("Learning rate", rates),
    "loss": Topic("Loss", losses),
    HEADS: Topic(TITLE, heads_over_steps),
}


def draw(pane: Pane) -> None:
    """The chosen topic."""
    first, *_ = TOPICS
    topic = pane.screen.topic if pane.screen.topic in TOPICS else first
    top = st.container(horizontal=True, vertical_alignment="bottom", gap="medium")
    with top:
        st.segmented_control(
            "Topic",
            list(TOPICS),
            format_func=lambda name: TOPICS[name].title,
            required=True,
            **bound("topic", topic, first),
        )
    TOPICS[topic].draw(pane, top)


def _choices(pane: Pane) -> None:
    if pane.screen.topic == HEADS:
        choose_head(pane)


PAGE = Page("training", "Training", 7, draw, choices=_choices)
