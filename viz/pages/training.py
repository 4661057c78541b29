"""Training: the smoothed labels, the learning rate, and the losses that were saved."""

import math

import pandas as pd
import streamlit as st

from transformer import Checkpoint, CheckpointError
from transformer.checkpoint import read_history
from transformer.discover import discover
from transformer.training.smoothing import entropy, smoothed_target
from transformer.training.task import Recipe
from viz.export import rows_csv
from viz.labels import label
from viz.ui.current import current, current_theme
from viz.ui.panel import download, show_figure
from viz.views import label_smoothing, learning_rate, loss_curve, score_curves, smoothing_parts
from viz.views.curve import saved
from viz.views.smoothing_parts import LARGEST, STEP, Parts

SMOOTHING, RATE, LOSS = "Label smoothing", "Learning rate", "Loss"


def recipe_of(checkpoint: Checkpoint) -> Recipe | None:
    """The recipe that a checkpoint names; None where we do not have it."""
    recipes: dict[str, Recipe] = discover("transformer.training.recipes", "RECIPE")
    return recipes.get(checkpoint.about.recipe)


def history_of(checkpoint: Checkpoint) -> list[dict[str, float]]:
    """What training saved; a file that cannot be read is named and the page goes on without."""
    try:
        return read_history(checkpoint.path)
    except CheckpointError as error:
        st.warning(str(error), icon=":material/info:")
        return []


def log_steps() -> bool:
    """The choice of the horizontal axis."""
    return st.toggle("Logarithmic steps", key="log", bind="query-params")


def smoothing() -> None:
    """The target and the prediction at one position, and what the loss makes of them."""
    recording = current().recording
    if reason := label_smoothing.why_not(recording):
        st.info(reason)
        return
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        position = st.selectbox(
            "Target position",
            range(len(recording.target)),
            format_func=lambda t: f"{t} · {label(recording.target[t])}",
            key="position",
            bind="query-params",
            width=200,
        )
        epsilon = st.slider(
            "Smoothing ε", 0.0, LARGEST, 0.1, STEP, key="epsilon", bind="query-params", width=300
        )
    bars, loss = st.columns([6, 5], gap="large")
    with bars:
        distributions(int(position or 0), epsilon)
    with loss:
        loss_parts(int(position or 0), epsilon)


def distributions(position: int, epsilon: float) -> None:
    """Both distributions as bars, and all pieces as a file."""
    recording, token = current().recording, current().checkpoint.tokenizer.token
    target = recording.target[position]
    log_probs = label_smoothing.log_probs_at(recording, position)
    smoothed = smoothed_target(target.id, len(log_probs), epsilon)
    rows = label_smoothing.rows(target.id, smoothed, log_probs, token)
    show_figure(
        label_smoothing.draw(rows, position, target, current_theme()),
        "label_smoothing",
        SMOOTHING,
        label_smoothing.describe(rows, position, target),
        key="label_smoothing",
    )
    probs = log_probs.exp().tolist()
    download(
        "All pieces as CSV",
        lambda: rows_csv(
            [
                {"id": i, "piece": token(i).piece, "smoothed": asked, "predicted": probs[i]}
                for i, asked in enumerate(smoothed.tolist())
            ]
        ),
        "headscope-label-smoothing.csv",
        "Both probabilities of every piece of the vocabulary",
    )


def loss_parts(position: int, epsilon: float) -> None:
    """The loss as a sum, now and for every smoothing."""
    recording = current().recording
    target = recording.target[position]
    log_probs = label_smoothing.log_probs_at(recording, position)
    chosen = smoothing_parts.parts(target.id, log_probs, epsilon)
    curve = smoothing_parts.all_parts(target.id, log_probs)
    st.table(sum_table(chosen))
    show_figure(
        smoothing_parts.draw(curve, chosen, position, current_theme()),
        "smoothing_parts",
        SMOOTHING,
        smoothing_parts.describe(chosen),
        key="smoothing_parts",
    )
    download(
        "Losses as CSV",
        lambda: rows_csv([vars(each) for each in curve]),
        "headscope-smoothing-parts.csv",
        "The loss and its two parts in nats, for every ε",
    )


def sum_table(chosen: Parts) -> pd.DataFrame:
    """KL + entropy = cross-entropy, in nats and in bits."""
    rows = {
        "KL(smoothed target ‖ prediction)": chosen.divergence,
        "+ entropy of the smoothed target": chosen.entropy,
        "= cross-entropy, the loss": chosen.cross_entropy,
    }
    texts = {
        name: [f"{nats:.4f} nats", f"{nats / math.log(2):.4f} bits"] for name, nats in rows.items()
    }
    return pd.DataFrame.from_dict(texts, orient="index", columns=["in nats", "in bits"])


def rate() -> None:
    """The paper's schedule, that of the checkpoint's recipe, and the rates that were saved."""
    checkpoint = current().checkpoint
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        bound = {"bind": "query-params", "width": 150}
        d_model = st.number_input("d_model", 1, 16384, 512, 64, key="d_model", **bound)
        warmup = st.number_input("Warm-up steps", 1, 100_000, 4000, 500, key="warmup", **bound)
        log = log_steps()
    recipe, history = recipe_of(checkpoint), history_of(checkpoint)
    last = recipe.training.steps if recipe else 1
    paper = learning_rate.paper_curve(d_model, warmup, last)
    own = learning_rate.recipe_curve(recipe.name, recipe.training) if recipe else None
    recorded = saved(history, "learning_rate", f"as saved with {checkpoint.name}")
    kept = recorded if recorded.steps else None
    show_figure(
        learning_rate.draw(paper, own, kept, log, current_theme()),
        "learning_rate",
        RATE,
        learning_rate.describe(paper, own),
        key="learning_rate",
    )
    download(
        "Rates as CSV",
        lambda: rows_csv(
            [
                {"schedule": curve.name, "step": step, "learning_rate": value}
                for curve in (paper, own, kept)
                if curve
                for step, value in zip(curve.steps, curve.values, strict=True)
            ]
        ),
        "headscope-learning-rate.csv",
        "Every point that is drawn",
    )
    st.caption(
        "lrate = d_model^−0.5 · min(step^−0.5, step · warmup_steps^−1.5): linear growth, then a "
        "fall with the inverse square root of the step (AIAYN, section 5.3). Our recipes warm up, "
        "stay level and fall to zero."
    )


def losses() -> None:
    """What training saved with the checkpoint."""
    checkpoint = current().checkpoint
    history = history_of(checkpoint)
    if not history:
        st.info(f"{checkpoint.name} has no history.json that could be drawn.")
        return
    log, theme = log_steps(), current_theme()
    left, right = st.columns([3, 2], gap="large")
    with left:
        show_figure(
            loss_curve.draw(history, floor(), log, theme),
            "loss_curve",
            LOSS,
            loss_curve.describe(history),
            key="loss_curve",
        )
        download(
            "History as CSV",
            lambda: rows_csv(history),
            "headscope-history.csv",
            "Every row that training saved",
        )
    with right:
        show_figure(
            score_curves.draw(history, log, theme),
            "score_curves",
            "Validation scores",
            score_curves.describe(history),
            key="score_curves",
        )
    st.caption(
        "Training: the mean over one batch, every 50 steps, against smoothed labels. Validation: "
        "held-out sentences, plain labels, with the averaged weights that were shipped."
    )


def floor() -> float | None:
    """The least training loss that the smoothing of the checkpoint's recipe allows, in nats."""
    recipe, n_classes = recipe_of(current().checkpoint), current().recording.logits.size(-1)
    if recipe is None:
        return None
    return float(entropy(smoothed_target(0, n_classes, recipe.training.label_smoothing)))


topic = st.segmented_control(
    "Topic",
    [SMOOTHING, RATE, LOSS],
    default=SMOOTHING,
    key="topic",
    bind="query-params",
    required=True,
    label_visibility="collapsed",
)
{SMOOTHING: smoothing, RATE: rate, LOSS: losses}[str(topic)]()
