"""Positions: how the model tells its tokens apart by place, and what happens without."""

from dataclasses import replace
from functools import partial

from viz.app_packages import st
from viz.labels import literal
from viz.map_words import schemes, undrawn
from viz.pages.positions.lab import LAB
from viz.state.page import Exhibits, Page, Pane
from viz.state.state import note
from viz.ui.experiment import offer_edit
from viz.ui.parts import Part, Parts
from viz.ui.picture import panel, view_exhibits, views_of_page

NONE = (
    "No position scheme was found in this pass. Looked for: rows of a table, or sinusoids, that "
    "are added to the tokens before the first attention; queries and keys that turn; numbers added "
    "to the scores by distance. What is concatenated, or made by a convolution, is not found."
)


def _views(pane: Pane) -> Exhibits:
    """Every view that applies: the chosen one is what everybody looks at."""
    first, *others = view_exhibits("positions", pane).items()
    return dict([first]) | {name: replace(it, is_main=False) for name, it in others}


def _parts(pane: Pane) -> Parts:
    """The views that apply, and the lab, where positions are changed."""
    views = views_of_page("positions", pane.recording)
    parts = {
        name: Part(view.title, _views, offer_edit, draw=partial(panel, name))
        for name, view in views.items()
    }
    parts["lab"] = LAB
    return Parts("View", "view", parts, lambda pane: pane.screen.view, has_labels=False)


def draw(pane: Pane) -> None:
    """The schemes in sentences, and one of the parts."""
    drawn, others, parts = schemes(pane.recording), undrawn(pane.recording), _parts(pane)
    if not drawn and pane.screen.view != "lab":
        note(" ".join(others) or NONE)
        if len(parts.parts) == 1:
            return
        others = []
    with st.container():
        with st.container(key="under schemes"):
            st.markdown("  \n".join(literal(each) for each in (*drawn, *others)))
        parts.draw(pane)


PAGE = Page(
    "positions",
    "Positions",
    "Model",
    7,
    draw,
    exhibits=lambda pane: _parts(pane).exhibits(pane),
    edits="shown",
    subject="How a Transformer tells its tokens apart by place",
)
