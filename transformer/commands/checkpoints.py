"""Commands about checkpoints: inspect, list, first-picture, ship-survey."""

from argparse import ArgumentParser, Namespace
from pathlib import Path

import torch
from tqdm import tqdm

from transformer.causes.first_picture import first_picture, open_at
from transformer.checkpoint import CheckpointError, checkpoints_folder
from transformer.commands.command import Command, Result, add_checkpoint, add_data
from transformer.corpus.shipped import FILE, FOLDER, write_shipped
from transformer.corpus.shipping import (
    Gathered,
    about_of,
    sentences_for,
    sentences_in,
    shipping,
    with_card,
    with_relations,
)
from transformer.corpus.survey import source_of
from transformer.corpus.trees import ENDING, read_trees
from transformer.corpus.usual_certainty import measure_certainty, write_certainty
from transformer.device import choose_device
from transformer.extras import NotInstalled
from transformer.files.regular_file import natural
from transformer.fingerprint import fingerprint
from transformer.formats.adapter import own_adapter
from transformer.formats.opening import find_format, load_checkpoint
from transformer.inputs import InputError
from transformer.inspection.survey import inspect
from transformer.refusal import Refusal
from transformer.training.history import left_out

# python -m transformer inspect: what a checkpoint folder holds, without running it.


def run_inspect(options: Namespace) -> Result:
    """Sizes, tensors and findings. Raises Refusal."""
    choose_device(options.device)  # nothing runs, yet a wrong name is told
    return inspect(options.checkpoint)


INSPECT_COMMAND = Command(
    "inspect", "say what a checkpoint folder holds", add_checkpoint, run_inspect
)


# python -m transformer list: the checkpoints of a folder, by name and title.


def add_arguments_list(parser: ArgumentParser) -> None:
    """Add what `list` takes."""
    parser.add_argument("folder", type=Path, nargs="?", default=checkpoints_folder())


def run_list(options: Namespace) -> Result:
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


LIST_COMMAND = Command("list", "name the checkpoints of a folder", add_arguments_list, run_list)


# python -m transformer first-picture: choose the head that a checkpoint opens with.


def add_arguments_first_picture(parser: ArgumentParser) -> None:
    """Add what `first-picture` takes."""
    add_checkpoint(parser)
    parser.add_argument(
        "--write",
        action="store_true",
        help="keep it in the checkpoint's config.json; links that were made before still open it",
    )


def run_first_picture(options: Namespace) -> Result:
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


FIRST_PICTURE_COMMAND = Command(
    "first-picture",
    "choose the head that a checkpoint opens with",
    add_arguments_first_picture,
    run_first_picture,
)


# python -m transformer ship-survey: keep a survey of a checkpoint beside its weights.

N_TREES = 600


def add_arguments_ship_survey(parser: ArgumentParser) -> None:
    """Add what `ship-survey` takes."""
    add_checkpoint(parser)
    help = (
        "a sentence per line; a file of its name that ends in .md says whose they are; left out, "
        "sentences that come with Headscope"
    )
    add_data(parser, help, required=False)
    help = (
        f"a {ENDING} file: how well each head finds its relations, over its first {N_TREES:,} "
        "trees; they are not kept; a file of its name in .md says whose they are"
    )
    parser.add_argument("--trees", type=Path, metavar="FILE", help=help)
    help = "the folder of the survey; left out, survey/ in the checkpoint's folder"
    parser.add_argument("--out", type=Path, metavar="FOLDER", help=help)


def run_ship_survey(options: Namespace) -> Result:
    """Survey the sentences, switch every head off on them, and write. Raises Refusal."""
    torch.set_num_threads(options.threads or 1)
    checkpoint = load_checkpoint(options.checkpoint, options.device)
    sentences = sentences_in(options.data) if options.data else sentences_for(checkpoint)
    trees = read_trees(options.trees)[:N_TREES] if options.trees else []
    gathered: Gathered | None = None
    with tqdm(
        total=len(sentences.lines), desc="Survey", unit="sentence", dynamic_ncols=True
    ) as bar:
        for gathered in shipping(checkpoint, sentences):
            bar.n = gathered.n_done
            bar.refresh()
    if gathered is None or not gathered.heads:
        why = f": {gathered.left_out[0]}" if gathered and gathered.left_out else "."
        raise InputError(f"There is no sentence that this model reads{why}")
    opens = open_at(checkpoint)
    mark = fingerprint(checkpoint.path)
    data = f" --data {options.data.name}" if options.data else ""
    from_trees = f" --trees {options.trees.name}" if trees else ""
    by = f"`python -m transformer ship-survey {checkpoint.name}{data}{from_trees}`"
    shipped = gathered.shipped
    if trees:
        shipped = with_relations(shipped, checkpoint, trees, about_of(options.trees))
    shipped = with_card(shipped, checkpoint.name, mark, by)
    folder = options.out or checkpoint.path / FOLDER
    write_shipped(folder, shipped, mark)
    sources = [*filter(None, map(source_of, sentences.lines.values()))]
    if usual := measure_certainty(checkpoint, mark, sources):
        write_certainty(folder, usual)
    return {
        "written": str(folder / FILE),
        "bytes": (folder / FILE).stat().st_size,
        "sentences": shipped.survey.n_sentences,
        "heads": len(shipped.survey.heads),
        "first_picture": opens.why if opens else "as it was",
        "left_out": list(shipped.survey.left_out),
    }


SHIP_SURVEY_COMMAND = Command(
    "ship-survey",
    "ship-survey: keep what a checkpoint's heads do, and are worth, beside its weights",
    add_arguments_ship_survey,
    run_ship_survey,
)


COMMAND = (
    INSPECT_COMMAND,
    LIST_COMMAND,
    FIRST_PICTURE_COMMAND,
    SHIP_SURVEY_COMMAND,
)
