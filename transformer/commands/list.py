"""python -m transformer list: the checkpoints of a folder, by name and title."""

from argparse import ArgumentParser, Namespace
from collections.abc import Mapping
from pathlib import Path

from transformer.checkpoint import EDITIONS, CheckpointError, checkpoints_folder, edition_of
from transformer.commands.command import Command, Result
from transformer.extras import NotInstalled
from transformer.files.natural_order import natural
from transformer.formats.adapter import own_adapter
from transformer.formats.opening import find_format
from transformer.refusal import Refusal


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
    titles |= _editions(options.folder, titles)
    titles = dict(sorted(titles.items(), key=lambda item: natural(item[0])))
    if not titles:
        raise CheckpointError(f"No checkpoint in {options.folder}.")
    return titles


def _editions(folder: Path, titles: Mapping[str, str]) -> dict[str, str]:
    """Name the shipped weights that are in a folder of another name."""
    if folder.resolve() != checkpoints_folder().resolve():
        return {}
    folders = {name: edition_of(name) for name in EDITIONS}
    return {
        name: f"{titles[of]} (the weights that {of} has now)"
        for name, of in folders.items()
        if of is not None and of in titles
    }


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
        return ". ".join(filter(None, (about.title, " ".join(about.notes))))
    except NotInstalled as error:
        return str(error)
    except Refusal as error:
        return f"damaged: {error}"


COMMAND = Command("list", "name the checkpoints of a folder", add_arguments, run)
