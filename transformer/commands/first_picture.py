"""python -m transformer first-picture: choose the head that a checkpoint opens with."""

from argparse import ArgumentParser, Namespace

from transformer.causes.first_picture import first_picture, open_at
from transformer.commands.arguments import add_checkpoint
from transformer.commands.command import Command, Result
from transformer.formats.opening import load_checkpoint


def add_arguments(parser: ArgumentParser) -> None:
    """Add what `first-picture` takes."""
    add_checkpoint(parser)
    parser.add_argument(
        "--write",
        action="store_true",
        help="keep it in the checkpoint's config.json; links that were made before still open it",
    )


def run(options: Namespace) -> Result:
    """Name the head, how it is read, and the figures that chose it. Raises Refusal."""
    checkpoint = load_checkpoint(options.checkpoint, options.device)
    picture = first_picture(checkpoint)
    written = options.write and open_at(checkpoint) is not None
    kind, layer, head = picture.opens_at
    return {
        "kind": kind,
        "layer": layer,
        "head": head,
        "special": picture.special,
        "why": picture.why,
        "written": "into config.json" if written else "nowhere",
    }


COMMAND = Command(
    "first-picture", "choose the head that a checkpoint opens with", add_arguments, run
)
