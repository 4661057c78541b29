"""Learning rates: the paper's schedule beside that of the checkpoint on screen."""

from collections.abc import Sequence

from viz.app_packages import DeltaGenerator, st
from viz.exhibits.exhibit import Exhibit
from viz.export import rows_csv
from viz.fields.training import TrainingFields
from viz.figures.training import learning_rate
from viz.figures.training.over_steps import OverSteps, saved
from viz.pages.training.history import history_of, log_steps, recipe_of
from viz.state.page import Pane
from viz.ui.controls import whole_number
from viz.ui.saving import download
from viz.ui.showing import show_with_files

SIZES = {"d_model": (16_384, 512, 64), "warmup": (100_000, 4000, 500)}
"""The paper's schedule: the largest number, the usual one, and the step from one to the next."""
Curves = tuple[OverSteps, OverSteps | None, OverSteps]
"""The paper's, that of the recipe, and what was saved."""
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
    with top:
        own = pane.screen.of(TrainingFields)
        _choose("d_model", own.d_model)
        _choose("warmup", own.warmup)
        log_steps(own)
    curves = _curves(pane)
    with show_with_files(pane, _exhibit(curves, own.log), "learning-rate"):
        download(
            "Rates as CSV",
            lambda: rows_csv(_points([curve for curve in curves if curve])),
            "headscope-learning-rate.csv",
            "Every point that is drawn",
        )
    st.caption(EXPLAIN)


def rate_exhibits(pane: Pane) -> dict[str, Exhibit]:
    """Declare the exhibit of the learning rate."""
    return {"learning-rate": _exhibit(_curves(pane), pane.screen.of(TrainingFields).log)}


def _exhibit(curves: Curves, log: bool) -> Exhibit:
    paper, own, recorded = curves
    return Exhibit(
        "Learning rate",
        learning_rate.chart(paper, own, recorded, log),
        learning_rate.describe(paper, own),
        about="checkpoint",
    )


def _curves(pane: Pane) -> Curves:
    checkpoint, recipe = pane.checkpoint, recipe_of(pane.checkpoint)
    own = learning_rate.recipe_curve(recipe.name, recipe.training) if recipe else None
    history = history_of(checkpoint) or []
    recorded = saved(history, "learning_rate", f"as saved with {checkpoint.name}")
    chosen = pane.screen.of(TrainingFields)
    d_model, warmup = _size("d_model", chosen.d_model), _size("warmup", chosen.warmup)
    last = learning_rate.last_step(own, recorded)
    return learning_rate.paper_curve(d_model, warmup, last), own, recorded


def _size(name: str, number: int | None) -> int:
    largest, usual, _ = SIZES[name]
    return number if number is not None and 1 <= number <= largest else usual


def _choose(name: str, number: int | None) -> None:
    title = {"warmup": "Warm-up steps"}.get(name, name)
    largest, usual, step = SIZES[name]
    whole_number(title, name, number, 1, largest, usual, step=step, width=150)


def _points(curves: Sequence[OverSteps]) -> list[dict[str, str | float]]:
    return [
        {"schedule": curve.name, "step": step, "learning_rate": value}
        for curve in curves
        for step, value in zip(curve.steps, curve.values, strict=True)
    ]
