"""Commands of a training: train, evaluate."""

import os
import signal
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from transformer.checkpoint import CARD, FOLDER, Checkpoint, CheckpointError
from transformer.commands.command import Command, Result, add_checkpoint, checkpoint, positive
from transformer.discover import discover
from transformer.files.foreign_text import write_whole
from transformer.formats.opening import load_checkpoint
from transformer.inputs import InputError
from transformer.refusal import quoted
from transformer.training.task import LARGEST_CARD, Recipe, Scores, read_text
from transformer.training.train import rescored, train

# python -m transformer train: a recipe from its data to a checkpoint.


def add_arguments_train(parser: ArgumentParser) -> None:
    """Add what `train` takes."""
    recipes = discover("transformer.training.recipes", "RECIPE")
    parser.add_argument("recipe", choices=list(recipes))
    parser.add_argument("--data", type=Path, help="folder of the training data")
    parser.add_argument("--output", type=Path, help="checkpoint folder (checkpoints/RECIPE)")
    parser.add_argument(
        "--from", dest="start", type=checkpoint, help="begin with this checkpoint's weights"
    )
    parser.add_argument("--steps", type=positive, help="train this many steps in all")
    parser.add_argument(
        "--work", type=Path, help="folder of the run's state (build/training/, then OUTPUT's name)"
    )


def run_train(options: Namespace) -> Result:
    """Train, evaluate and publish; returns the scores. Raises Refusal."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # being told to stop saves too
    recipe = discover("transformer.training.recipes", "RECIPE")[options.recipe]
    if options.steps:
        recipe = replace(recipe, training=replace(recipe.training, steps=options.steps))
    output = options.output or Path(os.environ.get(FOLDER, "checkpoints")) / recipe.name
    work = options.work or Path("build/training") / output.name
    return {**train(recipe, options.data, output, work, options.device, options.start)}


TRAIN_COMMAND = Command(
    "train", "train a recipe, or continue a stopped run", add_arguments_train, run_train
)


# python -m transformer evaluate: a checkpoint's scores, by the recipe that it names.


def add_arguments_evaluate(parser: ArgumentParser) -> None:
    """Add what `evaluate` takes."""
    add_checkpoint(parser)
    parser.add_argument("--data", type=Path, help="folder of the evaluation data")
    parser.add_argument(
        "--only", action="append", metavar="PART", help="evaluate this part; may be repeated"
    )
    parser.add_argument("--card", action="store_true", help="write the scores into its card too")


def run_evaluate(options: Namespace) -> Result:
    """The scores of all parts, or of those asked for. Raises Refusal."""
    checkpoint = load_checkpoint(options.checkpoint, options.device)
    # The one that it names. Raises CheckpointError where that is not here.
    recipes: dict[str, Recipe] = discover("transformer.training.recipes", "RECIPE")
    if checkpoint.about.recipe not in recipes:
        raise CheckpointError(
            f"{checkpoint.name} names the recipe {quoted(checkpoint.about.recipe)}, which is not "
            "here, so there is nothing to evaluate it by."
        )
    recipe = recipes[checkpoint.about.recipe]
    if options.only:
        scores = _parts(recipe, options.only, checkpoint, options.data)
    else:
        scores = recipe.evaluate(checkpoint, options.data)
    if options.card:
        # The card with these scores in place of its own of that kind. Raises TrainingError.
        card = options.checkpoint / CARD
        text = read_text(card.parent, card.name, LARGEST_CARD)
        write_whole(card, rescored(text, recipe, scores).encode())
    return {**scores}


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


EVALUATE_COMMAND = Command(
    "evaluate", "print a checkpoint's scores", add_arguments_evaluate, run_evaluate
)


COMMAND = (
    TRAIN_COMMAND,
    EVALUATE_COMMAND,
)
