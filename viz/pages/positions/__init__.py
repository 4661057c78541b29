"""Positions: how the model tells its tokens apart by place, and what happens without."""

from collections.abc import Mapping
from dataclasses import replace

from viz.app_packages import st
from viz.labels import literal
from viz.map_words import schemes
from viz.pages.positions.lab import lab_exhibits, laboratory
from viz.state.page import Exhibits, Page, Pane
from viz.state.state import note
from viz.ui.controls import choose_one
from viz.ui.experiment import offer_edit
from viz.ui.picture import panel, view_exhibits
from viz.views.of_page import views_of_page
from viz.views.view import View

NONE = (
    "No position scheme was found in this pass. Looked for: rows of a table, or sinusoids, that "
    "are added to the tokens before the first attention; queries and keys that turn; numbers added "
    "to the scores by distance. What is concatenated, or made by a convolution, is not found."
)
LAB = "lab"


def draw(pane: Pane) -> None:
    """One of the views that apply, or the lab, where positions are changed."""
    views, name = views_of_page("positions", pane.recording), pane.screen.view
    sentences = schemes(pane.recording)
    if not sentences and name != LAB:
        note(NONE)
        if not views:
            return
    with st.container():
        with st.container(key="under schemes"):
            st.markdown("  \n".join(literal(each) for each in sentences))
        _view(pane, views, name)


def _view(pane: Pane, views: Mapping[str, View], name: str | None) -> None:
    """The choice of a view, and the chosen one."""
    titles = {name: view.title for name, view in views.items()} | {LAB: "Lab"}
    with st.container(horizontal=True, vertical_alignment="center"):
        chosen = choose_one("View", "view", titles, name, label_visibility="collapsed")
        offer_edit(pane)
    if chosen == LAB:
        laboratory(pane)
    else:
        panel(chosen, pane)


def _exhibits(pane: Pane) -> Exhibits:
    if pane.screen.view == LAB:
        return lab_exhibits(pane)
    first, *others = view_exhibits("positions", pane).items()
    return dict([first]) | {name: replace(it, is_main=False) for name, it in others}


PAGE = Page(
    "positions",
    "Positions",
    "Look",
    5,
    draw,
    exhibits=_exhibits,
    edits="shown",
    subject="How a Transformer tells its tokens apart by place",
)
