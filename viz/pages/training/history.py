"""The training of the checkpoint on screen, as far as it was saved."""

from transformer import Checkpoint, CheckpointError
from transformer.discover import discover
from transformer.training.history import read_history
from transformer.training.task import Recipe
from viz.app_packages import st
from viz.fields.training import TrainingFields
from viz.state.note import note, warn
from viz.state.state import bound


def recipe_of(checkpoint: Checkpoint) -> Recipe | None:
    """The recipe that a checkpoint names; None where it is not one of ours."""
    recipes: dict[str, Recipe] = discover("transformer.training.recipes", "RECIPE")
    return recipes.get(checkpoint.about.recipe)


def history_of(checkpoint: Checkpoint) -> list[dict[str, float]] | None:
    """Return what training saved; None, after a sentence that says why, where there is nothing."""
    try:
        history = read_history(checkpoint.path)
    except CheckpointError as error:
        warn(error)
        return None
    if not history:
        unknown = "what its training saw is unknown"
        note(f"{checkpoint.name} came without a history.json: {unknown}.")
        return None
    return history


def log_steps(own: TrainingFields) -> bool:
    """The choice of the horizontal axis."""
    return st.toggle("Logarithmic steps", own.log, **bound("log", own.log))
