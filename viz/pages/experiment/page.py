"""Experiment: the model is changed in many ways, one after the other, and the effects compared."""

from viz.exhibits.exhibit import Exhibit
from viz.fields.experiment import ExperimentFields
from viz.pages.experiment.patch import patch_figures, patch_page
from viz.pages.experiment.sweep import sweep_figures, sweep_page
from viz.state.page import Page, Pane
from viz.ui.controls import choose_one

DRAW = {"sweep": sweep_page, "patch": patch_page}
"""By the name in the address; the title is that name."""
FIGURES = {"sweep": sweep_figures, "patch": patch_figures}


def draw(pane: Pane) -> None:
    """The chosen experiment."""
    titles = {name: name.capitalize() for name in DRAW}
    chosen = pane.screen.of(ExperimentFields).experiment
    DRAW[choose_one("Experiment", "experiment", titles, chosen, label_visibility="collapsed")](pane)


def _figures(pane: Pane) -> dict[str, Exhibit]:
    return FIGURES.get(pane.screen.of(ExperimentFields).experiment or "", sweep_figures)(pane)


PAGE = Page(
    "experiment", "Experiment", "Look", 4, draw, exhibits=_figures, edits="own", takes_long=True
)
