"""Training: the smoothed labels, the learning rate, the losses, and how the heads came about."""

import streamlit as st

from viz.pages.training.heads import heads_over_steps
from viz.pages.training.loss import losses
from viz.pages.training.rate import rates
from viz.pages.training.smoothing import smoothing
from viz.ui.controls import choose_head, choose_one
from viz.ui.page import Page, Pane

HEADS = "heads"
TITLES = {
    "smoothing": "Label smoothing",
    "rate": "Learning rate",
    "loss": "Loss",
    HEADS: "Heads over steps",
}
DRAW = {"smoothing": smoothing, "rate": rates, "loss": losses, HEADS: heads_over_steps}


def draw(pane: Pane) -> None:
    """The chosen topic; what is chosen for it stands beside its name."""
    top = st.container(horizontal=True, vertical_alignment="bottom", gap="medium")
    with top:
        topic = choose_one("Topic", "topic", TITLES, pane.screen.topic)
    DRAW[topic](pane, top)


def _choices(pane: Pane) -> None:
    if pane.screen.topic == HEADS:
        choose_head(pane)


PAGE = Page("training", "Training", 7, draw, choices=_choices)
