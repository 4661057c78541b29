"""Training: how the heads came about, the smoothed labels, the learning rate, the losses."""

from collections.abc import Callable
from typing import Any

from transformer.checkpoint import CheckpointError
from viz.app_packages import st
from viz.fields.training import TrainingFields
from viz.pages.training.heads import heads_exhibits, heads_over_steps, lack
from viz.pages.training.loss import loss_exhibits, losses
from viz.pages.training.rate import rate_exhibits, rates
from viz.pages.training.smoothing import smoothing, smoothing_exhibits
from viz.pages.training.stand_in import with_snapshots
from viz.state.page import Exhibits, Page, Pane
from viz.ui.controls import choose_head, choose_one

HEADS = "heads"
TITLES = {
    HEADS: "Heads over steps",
    "smoothing": "Label smoothing",
    "rate": "Learning rate",
    "loss": "Loss",
}
EXHIBITS: dict[str, Callable[[Pane], Exhibits]] = {
    HEADS: heads_exhibits,
    "smoothing": smoothing_exhibits,
    "rate": rate_exhibits,
    "loss": loss_exhibits,
}
DRAW = {HEADS: heads_over_steps, "smoothing": smoothing, "rate": rates, "loss": losses}


def draw(pane: Pane) -> None:
    """The chosen topic; what is chosen for it stands beside its name."""
    look: Any = {"vertical_alignment": "bottom", "gap": "medium"}
    top = st.container(horizontal=True, key="topics", **look)
    with top:
        topic = choose_one("Topic", "topic", TITLES, _topic(pane), label_visibility="hidden")
    DRAW[topic](pane, top)


def _topic(pane: Pane) -> str:
    """The first one where the Screen names none that there is."""
    topic = pane.screen.of(TrainingFields).topic
    return topic if topic in TITLES else HEADS


def _pane(pane: Pane) -> Pane:
    return with_snapshots(pane) if _topic(pane) == HEADS else pane


def _completed(pane: Pane) -> Pane:
    """The same; raises CheckpointError where there are no heads over steps to draw."""
    if _topic(pane) == HEADS and not heads_exhibits(pane):
        raise CheckpointError(lack(pane))
    return pane


def _choices(pane: Pane) -> None:
    if _topic(pane) == HEADS:
        choose_head(pane)


def _exhibits(pane: Pane) -> Exhibits:
    return EXHIBITS[_topic(pane)](pane)


PAGE = Page(
    "training",
    "Training",
    "Model",
    8,
    draw,
    choices=_choices,
    pane=_pane,
    completed=_completed,
    exhibits=_exhibits,
    subject="How the heads of a Transformer came about in training",
)
