"""Training: the smoothed labels, the learning rate, and the losses that were saved."""

import streamlit as st

from viz.ui.training_loss import losses
from viz.ui.training_rate import rates
from viz.ui.training_smoothing import smoothing

TOPICS = {"Label smoothing": smoothing, "Learning rate": rates, "Loss": losses}

top = st.container(horizontal=True, vertical_alignment="bottom", gap="medium")
with top:
    topic = st.segmented_control(
        "Topic",
        list(TOPICS),
        default=next(iter(TOPICS)),
        key="topic",
        bind="query-params",
        required=True,
    )
TOPICS[str(topic)](top)
