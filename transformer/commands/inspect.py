"""python -m transformer inspect: what a checkpoint folder holds, without running it."""

from argparse import Namespace

from transformer.commands.arguments import add_checkpoint
from transformer.commands.command import Command, Result
from transformer.device import choose_device
from transformer.inspection.survey import inspect


def run(options: Namespace) -> Result:
    """Sizes, tensors and findings. Raises Refusal."""
    choose_device(options.device)  # nothing runs, yet a wrong name is told
    return inspect(options.checkpoint)


COMMAND = Command("inspect", "say what a checkpoint folder holds", add_checkpoint, run)
