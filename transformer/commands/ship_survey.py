"""python -m transformer ship-survey: keep a survey of a checkpoint beside its weights."""

from argparse import ArgumentParser, Namespace
from pathlib import Path

import torch
from tqdm import tqdm

from transformer.causes.first_picture import open_at
from transformer.commands.arguments import add_checkpoint, add_data
from transformer.commands.command import Command, Result
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
from transformer.corpus.surveyor import source_of
from transformer.corpus.trees import ENDING, read_trees
from transformer.corpus.usual_certainty import measure_certainty, write_certainty
from transformer.fingerprint import fingerprint
from transformer.formats.opening import load_checkpoint
from transformer.inputs import InputError

N_TREES = 600


def add_arguments(parser: ArgumentParser) -> None:
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


def run(options: Namespace) -> Result:
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


COMMAND = Command(
    "ship-survey",
    "ship-survey: keep what a checkpoint's heads do, and are worth, beside its weights",
    add_arguments,
    run,
)
