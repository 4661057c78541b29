"""The losses and scores that were saved with the checkpoint on screen."""

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from transformer.training.smoothing import entropy, smoothed_target
from viz.export import rows_csv
from viz.figures import loss_curve, score_curves
from viz.figures.loss_curve import History
from viz.pages.training.history import history_of, log_steps, recipe_of
from viz.ui.page import Pane
from viz.ui.panel import show_figure
from viz.ui.saving import download
from viz.ui.state import current_theme

EXPLAIN = (
    "Training: the mean over one batch, against smoothed labels. Validation: held-out examples, "
    "plain labels, with the averaged weights that are shipped; so it may lie below. "
    "The dotted line, where the recipe's smoothing is known, is the least that the training loss "
    "can be."
)


def losses(pane: Pane, top: DeltaGenerator) -> None:
    """Loss over the steps, and beside it what else was measured on held-out data."""
    history = history_of(pane.checkpoint)
    if history is None:
        return
    with top:
        log = log_steps(pane.screen)
    if not score_curves.scores(history):
        _loss(pane, history, log)
    else:
        left, right = st.columns([3, 2], gap="large")
        with left:
            _loss(pane, history, log)
        with right:
            _scores(history, log)
    st.caption(EXPLAIN)


def _loss(pane: Pane, history: History, log: bool) -> None:
    files = show_figure(
        loss_curve.draw(history, _floor(pane), log, current_theme()),
        "loss-curve",
        "Loss",
        loss_curve.describe(history),
    )
    with files:
        download(
            "History as CSV",
            lambda: rows_csv(history),
            "headscope-history.csv",
            "Every row that training saved",
        )


def _scores(history: History, log: bool) -> None:
    show_figure(
        score_curves.draw(history, log, current_theme()),
        "validation-scores",
        "Validation scores",
        score_curves.describe(history),
    )


def _floor(pane: Pane) -> float | None:
    """The least training loss that the smoothing of the checkpoint's recipe allows, in nats."""
    recipe, n_classes = recipe_of(pane.checkpoint), pane.recording.logits.size(-1)
    if recipe is None or recipe.training.label_smoothing == 0:
        return None
    return float(entropy(smoothed_target(0, n_classes, recipe.training.label_smoothing)))
