"""python -m transformer list: the checkpoints of a folder, by name and title."""

from argparse import ArgumentParser, Namespace
from pathlib import Path

from transformer.checkpoint import CheckpointError, checkpoints_folder
from transformer.commands.command import Command, Result
from transformer.extras import NotInstalled
from transformer.files.natural_order import natural
from transformer.formats.adapter import own_adapter
from transformer.formats.opening import find_format
from transformer.refusal import Refusal
from transformer.training.history import left_out


def add_arguments(parser: ArgumentParser) -> None:
    """Add what `list` takes."""
    parser.add_argument("folder", type=Path, nargs="?", default=checkpoints_folder())


def run(options: Namespace) -> Result:
    """Name -> title. Raises CheckpointError where there is none."""
    try:
        inside = sorted(options.folder.iterdir(), key=lambda path: natural(path.name))
    except OSError as error:
        raise CheckpointError(f"{options.folder} cannot be read: {error.strerror}.") from error
    paths = {name: path for each in inside for name, path in _with_adapter(each).items()}
    titles = {name: title for name, path in paths.items() if (title := _title(path)) is not None}
    if not titles:
        raise CheckpointError(f"No checkpoint in {options.folder}.")
    return titles


def _with_adapter(path: Path) -> dict[str, Path]:
    """Name a checkpoint; and again with the adapter in its folder, where there is one."""
    adapted = own_adapter(path)
    return {path.name: path} | ({f"{path.name}::{path.name}": adapted} if adapted else {})


def _title(path: Path) -> str | None:
    """Describe a checkpoint, or say why it cannot be opened; None for what is no checkpoint."""
    try:
        format = find_format(path)
    except Refusal:
        return None
    if format is None:
        return None
    try:
        about = format.describe(path).about
        words = " ".join(filter(None, (*about.notes, left_out(path))))
        return ". ".join(filter(None, (about.title, words)))
    except NotInstalled as error:
        return str(error)
    except Refusal as error:
        return f"damaged: {error}"


COMMAND = Command("list", "name the checkpoints of a folder", add_arguments, run)
