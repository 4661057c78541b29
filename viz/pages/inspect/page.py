"""Inspect: what a checkpoint's files hold, without running them."""

from collections.abc import Callable
from dataclasses import dataclass

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from transformer import CheckpointError
from viz.labels import literal
from viz.pages.inspect.circuits import circuits
from viz.pages.inspect.files import Key, inspected
from viz.pages.inspect.modules import modules
from viz.pages.inspect.positions import learned_positions
from viz.pages.inspect.tensor import tensor
from viz.pages.inspect.vocabulary import vocabulary
from viz.ui.page import Page, Pane
from viz.ui.state import bound


@dataclass(frozen=True)
class Part:
    """A part of the page. draw: given the pane, the checkpoint, and the row of the choice."""

    title: str
    draw: Callable[[Pane, Key, DeltaGenerator], None]


PARTS = {
    "modules": Part("Modules", modules),
    "tensor": Part("Tensor", tensor),
    "circuits": Part("Circuits", circuits),
    "vocabulary": Part("Vocabulary", vocabulary),
    "positions": Part("Positions", learned_positions),
}


def draw(pane: Pane) -> None:
    """The chosen part, of the checkpoint that is chosen, whether or not it can run."""
    first, *_ = PARTS
    part = pane.screen.inspect if pane.screen.inspect in PARTS else first
    top = st.container(horizontal=True, vertical_alignment="bottom", gap="medium")
    with top:
        st.segmented_control(
            "Inspect",
            list(PARTS),
            format_func=lambda name: PARTS[name].title,
            required=True,
            **bound("inspect", part, first),
        )
    key = pane.asked.checkpoint, pane.asked.version
    try:
        inspected(key)
        PARTS[part].draw(pane, key, top)
    except CheckpointError as error:
        st.error(literal(str(error)), icon=":material/error:")


PAGE = Page("inspect", "Inspect", 5, draw, needs_answer=False)
