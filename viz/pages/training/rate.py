"""Learning rates: the paper's schedule beside that of the checkpoint on screen."""

from collections.abc import Sequence

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from viz.export import rows_csv
from viz.figures import learning_rate
from viz.figures.curve import Curve, saved
from viz.pages.training.history import history_of, log_steps, recipe_of
from viz.ui.controls import whole_number
from viz.ui.page import Pane
from viz.ui.panel import show_figure
from viz.ui.saving import download
from viz.ui.state import current_theme

EXPLAIN = (
    r"$\mathit{lrate} = d_\text{model}^{-0.5} \cdot \min(\mathit{step}^{-0.5},\ "
    r"\mathit{step} \cdot \mathit{warmup\_steps}^{-1.5})$: linear growth, then a fall with the "
    "inverse square root of the step (AIAYN, section 5.3). "
    "Our recipes warm up, stay level and fall to zero. A run may be given more or fewer steps than "
    "its recipe has, and the recipe may have changed since: the points are the rates that the run "
    "really used."
)


def rates(pane: Pane, top: DeltaGenerator) -> None:
    """The paper's schedule, that of the checkpoint's recipe, and the rates that were saved."""
    checkpoint, screen = pane.checkpoint, pane.screen
    with top:
        d_model = _choose("d_model", screen.d_model, 16_384, 512, 64)
        warmup = _choose("warmup", screen.warmup, 100_000, 4000, 500)
        log = log_steps(screen)
    recipe = recipe_of(checkpoint)
    own = learning_rate.recipe_curve(recipe.name, recipe.training) if recipe else None
    history = history_of(checkpoint) or []
    recorded = saved(history, "learning_rate", f"as saved with {checkpoint.name}")
    paper = learning_rate.paper_curve(d_model, warmup, learning_rate.last_step(own, recorded))
    files = show_figure(
        learning_rate.draw(paper, own, recorded, log, current_theme()),
        "learning-rate",
        "Learning rate",
        learning_rate.describe(paper, own),
    )
    curves = [curve for curve in (paper, own, recorded) if curve]
    with files:
        download(
            "Rates as CSV",
            lambda: rows_csv(_points(curves)),
            "headscope-learning-rate.csv",
            "Every point that is drawn",
        )
    st.caption(EXPLAIN)


def _choose(name: str, said: int | None, largest: int, usual: int, step: int) -> int:
    title = {"warmup": "Warm-up steps"}.get(name, name)
    return whole_number(title, name, said, 1, largest, usual, step=step, width=150)


def _points(curves: Sequence[Curve]) -> list[dict[str, str | float]]:
    return [
        {"schedule": curve.name, "step": step, "learning_rate": value}
        for curve in curves
        for step, value in zip(curve.steps, curve.values, strict=True)
    ]
