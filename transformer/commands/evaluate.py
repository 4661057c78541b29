"""python -m transformer evaluate: a checkpoint's scores, by the recipe that it names."""

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from pathlib import Path

from transformer.checkpoint import CARD, Checkpoint, CheckpointError
from transformer.commands.arguments import add_checkpoint
from transformer.commands.command import Command, Result
from transformer.discover import discover
from transformer.files.whole_file import write_whole
from transformer.formats.opening import load_checkpoint
from transformer.inputs import InputError
from transformer.refusal import quoted
from transformer.training.card import rescored
from transformer.training.task import LARGEST_CARD, Recipe, Scores, read_text


def add_arguments(parser: ArgumentParser) -> None:
    """Add what `evaluate` takes."""
    add_checkpoint(parser)
    parser.add_argument("--data", type=Path, help="folder of the evaluation data")
    parser.add_argument(
        "--only", action="append", metavar="PART", help="evaluate this part; may be repeated"
    )
    parser.add_argument("--card", action="store_true", help="write the scores into its card too")


def run(options: Namespace) -> Result:
    """The scores of all parts, or of those asked for. Raises Refusal."""
    checkpoint = load_checkpoint(options.checkpoint, options.device)
    recipe = _recipe(checkpoint)
    if options.only:
        scores = _parts(recipe, options.only, checkpoint, options.data)
    else:
        scores = recipe.evaluate(checkpoint, options.data)
    if options.card:
        _rewrite(options.checkpoint / CARD, recipe, scores)
    return {**scores}


def _recipe(checkpoint: Checkpoint) -> Recipe:
    """The one that it names. Raises CheckpointError where that is not here."""
    recipes: dict[str, Recipe] = discover("transformer.training.recipes", "RECIPE")
    if checkpoint.about.recipe not in recipes:
        raise CheckpointError(
            f"{checkpoint.name} names the recipe {quoted(checkpoint.about.recipe)}, which is not "
            "here, so there is nothing to evaluate it by."
        )
    return recipes[checkpoint.about.recipe]


def _rewrite(card: Path, recipe: Recipe, scores: Scores) -> None:
    """The card with these scores in place of its own of that kind. Raises TrainingError."""
    text = read_text(card.parent, card.name, LARGEST_CARD)
    write_whole(card, rescored(text, recipe, scores).encode())


def _parts(
    recipe: Recipe, names: Sequence[str], checkpoint: Checkpoint, data: Path | None
) -> Scores:
    """Some parts of an evaluation, in the order asked for."""
    unknown = next((name for name in names if name not in recipe.parts), None)
    if unknown is not None:
        there = ", ".join(recipe.parts) or "none"
        raise InputError(
            f"{recipe.name} has no part {quoted(unknown)} to evaluate; its parts: {there}."
        )
    parts = (recipe.parts[name](checkpoint, data) for name in names)
    return {name: score for scores in parts for name, score in scores.items()}


COMMAND = Command("evaluate", "print a checkpoint's scores", add_arguments, run)
