"""Label smoothing at one position of the target on screen."""

import math

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator
from torch import Tensor

from transformer.training.smoothing import smoothed_target
from viz.export import rows_csv
from viz.figures import label_smoothing, smoothing_parts
from viz.figures.smoothing_parts import LARGEST, STEP, Parts
from viz.labels import label, literal
from viz.ui.controls import choose_one
from viz.ui.page import Pane
from viz.ui.panel import show_figure
from viz.ui.saving import download
from viz.ui.state import bound, current_theme
from viz.ui.words import help_of

DEFAULT = 0.1
"""AIAYN's, and that of most of our recipes."""
EXPLAIN = (
    "That ε is spread over all of the vocabulary is PyTorch's convention, and that of our "
    "training; the Annotated Transformer leaves out the target and padding. "
    "The entropy of the target is the least that the loss can be."
)


def smoothing(pane: Pane, top: DeltaGenerator) -> None:
    """The target and the prediction at one position, and what the loss makes of them."""
    recording = pane.recording
    if reason := label_smoothing.why_not(recording):
        st.info(literal(reason))
        return
    with top:
        position, epsilon = _choose_position(pane), _choose_epsilon(pane)
    log_probs = label_smoothing.log_probs_at(recording, position)
    bars, loss = st.columns([6, 5], gap="large")
    with bars:
        _distributions(pane, position, log_probs, epsilon)
    with loss:
        _loss(pane, position, log_probs, epsilon)
    st.caption(EXPLAIN)


def _choose_position(pane: Pane) -> int:
    titles = {t: f"{t} · {label(token)}" for t, token in enumerate(pane.recording.target)}
    said = pane.screen.position
    return choose_one("Target position", "position", titles, said, as_list=True, width=180)


def _choose_epsilon(pane: Pane) -> float:
    said = pane.screen.epsilon
    epsilon = said if said is not None and 0 <= said <= LARGEST else DEFAULT
    st.slider(
        "Smoothing ε",
        0.0,
        LARGEST,
        epsilon,
        STEP,
        width=280,
        help=help_of("label_smoothing"),
        **bound("epsilon", epsilon, DEFAULT),
    )
    return epsilon


def _distributions(pane: Pane, position: int, log_probs: Tensor, epsilon: float) -> None:
    """Both distributions as bars, and all pieces as a file."""
    target, token = pane.recording.target[position], pane.checkpoint.tokenizer.token
    smoothed = smoothed_target(target.id, len(log_probs), epsilon)
    rows = label_smoothing.rows(target.id, smoothed, log_probs, token)
    files = show_figure(
        label_smoothing.draw(rows, position, target, current_theme()),
        "label-smoothing",
        "Label smoothing",
        label_smoothing.describe(rows, position, target),
    )
    probs = list(zip(smoothed.tolist(), log_probs.exp().tolist(), strict=True))
    with files:
        download(
            "All pieces as CSV",
            lambda: rows_csv(
                [
                    {"id": i, "piece": token(i).piece, "smoothed": asked, "predicted": predicted}
                    for i, (asked, predicted) in enumerate(probs)
                ]
            ),
            "headscope-label-smoothing.csv",
            "Both probabilities of every piece of the vocabulary",
        )


def _loss(pane: Pane, position: int, log_probs: Tensor, epsilon: float) -> None:
    """The loss as a sum, now and for every smoothing."""
    target = pane.recording.target[position]
    chosen = smoothing_parts.parts(target.id, log_probs, epsilon)
    curve = smoothing_parts.all_parts(target.id, log_probs)
    st.markdown("**The loss at this position**", help=help_of("kl_divergence", "nats", "bits"))
    st.table(_sum(chosen))
    files = show_figure(
        smoothing_parts.draw(curve, chosen, position, current_theme()),
        "smoothing-parts",
        "The loss and its two parts",
        smoothing_parts.describe(chosen),
    )
    with files:
        download(
            "Losses as CSV",
            lambda: rows_csv([vars(each) for each in curve]),
            "headscope-smoothing-parts.csv",
            "The loss and its two parts in nats, for every ε",
        )


def _sum(chosen: Parts) -> pd.DataFrame:
    """KL + entropy = cross-entropy. Each is rounded by itself."""
    rows = {
        "KL(smoothed target ‖ prediction)": chosen.divergence,
        "plus entropy of the smoothed target": chosen.entropy,
        "= cross-entropy: the loss": chosen.cross_entropy,
    }
    texts = {name: [f"{nats:.4f}", f"{nats / math.log(2):.4f}"] for name, nats in rows.items()}
    return pd.DataFrame.from_dict(texts, orient="index", columns=["nats", "bits"])
