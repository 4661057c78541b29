"""Commands about heads that change what is written: carriers, smallest-change."""

from argparse import ArgumentParser, Namespace
from pathlib import Path

import torch
from tqdm import tqdm

from transformer.causes.change import NEGATING, smallest_change
from transformer.commands.command import Command, Result, add_checkpoint, add_data
from transformer.corpus.carriers import FILE, find_carriers, shipped_carriers, write_carriers
from transformer.corpus.shipped import FOLDER
from transformer.corpus.shipping import sentences_for, sentences_in
from transformer.corpus.survey import source_of
from transformer.decoding.decode import decoding_methods, default_method
from transformer.edits.edit import Edit
from transformer.fingerprint import fingerprint, is_marked
from transformer.formats.opening import load_checkpoint

# python -m transformer carriers: keep which heads carry the negation, beside the weights.


def add_arguments(parser: ArgumentParser) -> None:
    """Add what `carriers` takes."""
    add_checkpoint(parser)
    help = "a sentence per line; left out, sentences that come with Headscope"
    add_data(parser, help, required=False)
    help = "the language that the model writes, whose negating words are known"
    parser.add_argument("--language", choices=list(NEGATING), required=True, help=help)
    help = f"the folder of {FILE}; left out, {FOLDER}/ in the checkpoint's folder"
    parser.add_argument("--out", type=Path, metavar="FOLDER", help=help)


def run(options: Namespace) -> Result:
    """Search groups of heads over the sentences, and write. Raises Refusal."""
    torch.set_num_threads(options.threads or 1)
    checkpoint = load_checkpoint(options.checkpoint, options.device)
    sentences = sentences_in(options.data) if options.data else sentences_for(checkpoint)
    sources = [*filter(None, map(source_of, sentences.lines.values()))]
    mark = fingerprint(checkpoint.path)
    with tqdm(desc="Carriers", unit="pass", dynamic_ncols=True) as bar:
        result = find_carriers(checkpoint, mark, sources, options.language, bar.update)
    if result is None:
        return {"written": "nowhere: no group removes most negations"}
    folder = options.out or checkpoint.path / FOLDER
    write_carriers(folder, result)
    counts = zip(result.carriers.groups, result.n_removed, strict=True)
    return {
        "written": str(folder / FILE),
        "sentences": result.n_sentences,
        **{" ".join(map(_name, group)): n for group, n in counts},
    }


def _name(edit: Edit) -> str:
    return f"L{edit.layer}H{edit.head}"


# python -m transformer smallest-change: the heads without which a text is written otherwise.


def add_arguments_smallest_change(parser: ArgumentParser) -> None:
    """Add what `smallest-change` takes."""
    add_checkpoint(parser)
    parser.add_argument("text")
    methods = [name for name, method in decoding_methods().items() if not method.needs_target]
    parser.add_argument("--method", choices=methods, help="left out, the checkpoint's usual one")


def run_smallest_change(options: Namespace) -> Result:
    """Name the heads, and say what becomes of the text. Raises Refusal."""
    checkpoint = load_checkpoint(options.checkpoint, options.device)
    shipped = shipped_carriers(checkpoint.path)
    is_ours = shipped is not None and is_marked(checkpoint.path, shipped.fingerprint)
    method = options.method or default_method(checkpoint.family.reads)
    carriers = shipped.carriers if shipped is not None and is_ours else None
    change = smallest_change(checkpoint, options.text, method, carriers=carriers)
    if change is None:
        return {"heads": "none: nothing is found that changes one place"}
    of = change.difference
    return {
        "heads": [str(edit) for edit in change.heads],
        "kind": of.kind,
        "gone": of.gone,
        "came": of.came,
        "known": "yes" if change.is_known else "no",
        "text": change.text,
    }


COMMAND = (
    Command(
        "carriers",
        "carriers: keep which heads carry the negation of a translator beside its weights",
        add_arguments,
        run,
    ),
    Command(
        "smallest-change",
        "smallest-change: the fewest heads without which a text loses a word",
        add_arguments_smallest_change,
        run_smallest_change,
    ),
)
