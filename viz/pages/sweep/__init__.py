"""Sweep: the model is changed in many ways, one after the other, and the effects compared."""

from viz.page_fields import ExperimentFields
from viz.pages.sweep.patch import PATCH
from viz.pages.sweep.sweep import SWEEP
from viz.ui.parts import Parts

PARTS = Parts(
    "Sweep",
    "experiment",
    {"sweep": SWEEP, "patch": PATCH},
    chosen=lambda pane: pane.screen.of(ExperimentFields).experiment,
    key="experiments",
    has_labels=False,
)
PAGE = PARTS.page(
    "sweep",
    "Sweep",
    "Look",
    4,
    edits="own",
    takes_long=True,
    subject="What changes when the heads of a Transformer are switched off one by one",
)
