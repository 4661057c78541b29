"""train(): a recipe from its data to a published checkpoint, with its card."""

from pathlib import Path

from transformer.causes.first_picture import open_at
from transformer.checkpoint import CARD
from transformer.files.whole_file import write_whole
from transformer.formats.opening import load_checkpoint
from transformer.training.card import card
from transformer.training.loop import Run
from transformer.training.own_folder import own_folder
from transformer.training.step.half import uses_half
from transformer.training.task import Recipe, Scores


def train(
    recipe: Recipe,
    data: Path | None,
    output: Path,
    work: Path,
    device: str | None = None,
    start: Path | None = None,
) -> Scores:
    """Train, or go on where a stopped run left off; then evaluate and publish to `output`.

    work: the run's own folder, and no other process's meanwhile; it is kept, so that more steps can
    be added later. start: a checkpoint whose weights a new run begins with.
    Raises TrainingError, and DeviceError for a setting that cannot be read.
    """
    uses_half()  # a wrong setting is told before data are prepared
    with own_folder(work):
        run = Run(recipe, recipe.prepare(recipe, data, work), work, device, start)
        run.train()
        run.publish(output)
        open_at(load_checkpoint(output, device), is_new=True)
        scores = recipe.evaluate(load_checkpoint(output, device), data)
        write_whole(output / CARD, card(recipe, run, scores, data is not None).encode())
    return scores
