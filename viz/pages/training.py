"""Training: the smoothed labels, the learning rate, the losses, and how the heads came about."""

import streamlit as st

from viz.ui.training_heads import TITLE, TOPIC, heads_over_steps
from viz.ui.training_loss import losses
from viz.ui.training_rate import rates
from viz.ui.training_smoothing import smoothing

TOPICS = {
    "Label smoothing": smoothing,
    "Learning rate": rates,
    "Loss": losses,
    TITLE: heads_over_steps,
}

top = st.container(horizontal=True, vertical_alignment="bottom", gap="medium")
with top:
    topic = st.segmented_control(
        "Topic",
        list(TOPICS),
        default=next(iter(TOPICS)),
        key=TOPIC,
        bind="query-params",
        required=True,
    )
TOPICS[str(topic)](top)
