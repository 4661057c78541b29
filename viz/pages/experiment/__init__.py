"""Experiment: the model is changed in many ways, one after the other, and the effects compared."""

from typing import Any

from viz.app_packages import st
from viz.fields.fields import ExperimentFields
from viz.pages.experiment.patch import patch_exhibits, patch_page
from viz.pages.experiment.sweep import sweep_exhibits, sweep_page
from viz.state.page import Exhibits, Page, Pane
from viz.ui.controls import choose_one, help_of

DRAW = {"sweep": sweep_page, "patch": patch_page}
"""Parts of the page by the name in the address."""
TITLES = {"sweep": "Sweep (head ablation)", "patch": "Patch (activation patching)"}
EXHIBITS = {"sweep": sweep_exhibits, "patch": patch_exhibits}


def draw(pane: Pane) -> None:
    """The chosen experiment."""
    with st.container(horizontal=True, vertical_alignment="center", key="experiments"):
        look: Any = {"label_visibility": "collapsed", "width": "content"}
        text = pane.screen.of(ExperimentFields).experiment
        chosen = choose_one("Experiment", "experiment", TITLES, text, **look)
        _explain(chosen)
    DRAW[chosen](pane)


def _explain(name: str) -> None:
    """The intervention in a sentence, and its card."""
    if name == "patch":
        help = help_of("activation_patching", "intervention")
        st.caption("An intervention: states and heads of one run in another.", help=help)
    else:
        help = help_of("ablation", "intervention")
        st.caption("An intervention: every head off, one at a time.", help=help)


def _exhibits(pane: Pane) -> Exhibits:
    return EXHIBITS.get(pane.screen.of(ExperimentFields).experiment or "", sweep_exhibits)(pane)


PAGE = Page(
    "experiment",
    "Experiment",
    "Look",
    4,
    draw,
    exhibits=_exhibits,
    edits="own",
    takes_long=True,
    subject="What changes when the heads of a Transformer are switched off one by one",
)
