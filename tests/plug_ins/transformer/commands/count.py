"""python -m transformer count: how many parameters a checkpoint has."""

from argparse import ArgumentParser, Namespace

from transformer.commands.command import Command, Result, add_checkpoint
from transformer.formats.opening import load_checkpoint

UNITS = {"ones": 1, "thousands": 1000}


def add_arguments(parser: ArgumentParser) -> None:
    """What `count` takes."""
    add_checkpoint(parser)
    parser.add_argument("--unit", choices=list(UNITS), default="ones")


def run(options: Namespace) -> Result:
    """The parameters by their unit. Raises Refusal."""
    checkpoint = load_checkpoint(options.checkpoint, options.device)
    n_parameters = sum(each.numel() for each in checkpoint.model.parameters())
    return {options.unit: n_parameters / UNITS[options.unit]}


COMMAND = Command("count", "count the parameters of a checkpoint", add_arguments, run)
