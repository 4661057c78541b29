"""python -m transformer train: a recipe from its data to a checkpoint."""

import os
import signal
from argparse import ArgumentParser, Namespace
from dataclasses import replace
from pathlib import Path

from transformer.checkpoint import FOLDER
from transformer.commands.arguments import checkpoint, positive
from transformer.commands.command import Command, Result
from transformer.discover import discover
from transformer.training.train import train


def add_arguments(parser: ArgumentParser) -> None:
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


def run(options: Namespace) -> Result:
    """Train, evaluate and publish; returns the scores. Raises Refusal."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # being told to stop saves too
    recipe = discover("transformer.training.recipes", "RECIPE")[options.recipe]
    if options.steps:
        recipe = replace(recipe, training=replace(recipe.training, steps=options.steps))
    output = options.output or Path(os.environ.get(FOLDER, "checkpoints")) / recipe.name
    work = options.work or Path("build/training") / output.name
    return {**train(recipe, options.data, output, work, options.device, options.start)}


COMMAND = Command("train", "train a recipe, or continue a stopped run", add_arguments, run)
