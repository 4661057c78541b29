"""Numbers: how many of everything the model has."""

from dataclasses import dataclass

import streamlit as st

from viz.choice import CHECKPOINT, choice
from viz.spelling import one_of
from viz.state.page import Page, Pane
from viz.ui.controls import choose_one

TITLES = {"kinds": "kinds of attention", "layers": "layers of attention"}


@dataclass(frozen=True)
class NumbersFields:
    """The choice of this page."""

    numbers_of: str = choice(one_of(*TITLES), "kinds", CHECKPOINT)


def draw(pane: Pane) -> None:
    """One sentence."""
    chosen = choose_one("Of", "numbers_of", TITLES, pane.screen.of(NumbersFields).numbers_of)
    kinds = pane.recording.attentions
    n = len(kinds) if chosen == "kinds" else sum(each.n_layers for each in kinds.values())
    st.write(f"{n} {TITLES[chosen]} in {pane.checkpoint.name}")


PAGE = Page("numbers", "Numbers", "Learn", 99, draw, fields=NumbersFields)
