"""The losses and scores that were saved with the checkpoint on screen."""

from transformer.training.smoothing import entropy, smoothed_target
from viz.app_packages import DeltaGenerator, st
from viz.exhibits.exhibit import Exhibit
from viz.export import rows_csv
from viz.fields.training import TrainingFields
from viz.figures.training import loss_curve, score_curves
from viz.figures.training.loss_curve import History
from viz.pages.training.history import history_of, log_steps, recipe_of
from viz.state.page import Pane
from viz.ui.columns import columns
from viz.ui.saving import download
from viz.ui.showing import show_with_files

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
        log_steps(pane.screen.of(TrainingFields))
    loss, *scores = _exhibits(pane, history).items()
    if not scores:
        _loss(pane, history, *loss)
    else:
        left, right = columns([3, 2], gap="large")
        with left:
            _loss(pane, history, *loss)
        with right:
            for name, exhibit in scores:
                show_with_files(pane, exhibit, name)
    st.caption(EXPLAIN)


def loss_exhibits(pane: Pane) -> dict[str, Exhibit]:
    """Declare the exhibits of the loss."""
    history = history_of(pane.checkpoint)
    return {} if history is None else _exhibits(pane, history)


def _exhibits(pane: Pane, history: History) -> dict[str, Exhibit]:
    log, least = pane.screen.of(TrainingFields).log, _floor(pane)
    loss = Exhibit(
        "Loss",
        loss_curve.chart(history, least, log),
        loss_curve.describe(history),
        about="checkpoint",
    )
    if not score_curves.scores(history):
        return {"loss-curve": loss}
    scores = Exhibit(
        "Validation scores",
        score_curves.chart(history, log),
        score_curves.describe(history),
        about="checkpoint",
    )
    return {"loss-curve": loss, "validation-scores": scores}


def _loss(pane: Pane, history: History, name: str, exhibit: Exhibit) -> None:
    with show_with_files(pane, exhibit, name):
        download(
            "History as CSV",
            lambda: rows_csv(history),
            "headscope-history.csv",
            "Every row that training saved",
        )


def _floor(pane: Pane) -> float | None:
    """The least training loss that the smoothing of the checkpoint's recipe allows, in nats."""
    recipe, n_classes = recipe_of(pane.checkpoint), pane.recording.logits.size(-1)
    if recipe is None or recipe.training.label_smoothing == 0:
        return None
    return float(entropy(smoothed_target(0, n_classes, recipe.training.label_smoothing)))
