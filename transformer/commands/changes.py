"""python -m transformer changes: which heads differ between two checkpoints, and what flips."""

from argparse import ArgumentParser, Namespace
from dataclasses import asdict, replace
from itertools import islice
from math import isfinite
from pathlib import Path

from tqdm import tqdm

from transformer.analysis.corpus_sweep import caution
from transformer.commands.command import (
    Command,
    Result,
    add_checkpoint,
    checkpoint,
    csv_file,
    positive,
)
from transformer.corpus.survey import by_line, empty_lines, source_of
from transformer.corpus.surveyed import Estimate
from transformer.files.foreign_text import write_whole
from transformer.formats.opening import load_checkpoint
from transformer.inputs import InputError
from transformer.refusal import visible
from transformer.training.task import lines_in
from transformer.two_models.changed_heads import ChangedHeads, HeadChange, changing_heads

N_HEADS, N_FLIPS = 12, 10
"""Heads and sentences that are printed; --json and --out have all."""


def add_arguments(parser: ArgumentParser) -> None:
    """Add what `changes` takes."""
    add_checkpoint(parser)
    parser.add_argument("other", type=checkpoint, help="the checkpoint that it is compared with")
    parser.add_argument(
        "--data",
        type=Path,
        required=True,
        metavar="FILE",
        help="a sentence per line; a target may follow a tab, else the first checkpoint writes it",
    )
    parser.add_argument("--max", type=positive, metavar="N", help="only the first N sentences")
    parser.add_argument("--out", type=csv_file, help="a .csv with a line per head")


def run(options: Namespace) -> Result:
    """Compare both over the file. Raises Refusal."""
    numbered = enumerate(lines_in(options.data), 1)
    lines = {n: line for n, line in numbered if source_of(line)}
    if not lines:
        raise InputError(f"{options.data} has no sentence: write one per line.")
    lines = dict(islice(lines.items(), options.max))
    sentences = [line.partition("\t")[0] for line in lines.values()]
    targets = [line.partition("\t")[2].strip() for line in lines.values()]
    if any(targets) and not all(targets):
        raise InputError(f"Some lines of {options.data} have a target and others have none.")
    first = load_checkpoint(options.checkpoint, options.device)
    second = load_checkpoint(options.other, options.device)
    comparison = None
    with tqdm(total=len(lines), desc="Changes", unit="sentence", dynamic_ncols=True) as bar:
        for comparison in changing_heads(
            first, second, sentences, targets if any(targets) else None, list(lines)
        ):
            bar.update(comparison.n_done - bar.n)
    assert comparison is not None
    of_none = empty_lines(lines_in(options.data)[: max(lines)])
    result = comparison.result()
    result = replace(result, left_out=tuple(by_line([*of_none, *result.left_out])))
    if options.out is not None:
        write_whole(options.out, result.to_csv())
    return asdict(result) | {"lines": lines_of(result)}


def lines_of(result: ChangedHeads) -> list[str]:
    """The result as it is printed."""
    lines = [_heading(result), "", _row("head", "by itself", "in all", "cosine", "nearest in B")]
    comparable = [head for head in result.heads if isfinite(head.change)]
    for head in comparable[:N_HEADS]:
        own, total, cosine = (_number(each) for each in (head.own, head.total, head.cosine))
        lines.append(_row(_name(head.kind, head.layer, head.head), own, total, cosine, _near(head)))
    if len(comparable) > N_HEADS:
        lines.append(f"... and {len(comparable) - N_HEADS} more, by --json or --out.")
    if n_alone := len(result.heads) - len(comparable):
        lines.append(f"B has no head in the place of {n_alone} heads of A; --json has the nearest.")
    if result.vectors is not None:
        lines += ["", f"Cosine of the texts' vectors: {_number(result.vectors)}"]
    if result.n_outputs:
        lines += ["", f"{len(result.flips)} of {result.n_outputs} outputs differ."]
        for flip in result.flips[:N_FLIPS]:
            lines += [
                f"{flip.sentence}: {flip.source}",
                f"  A: {flip.first}",
                f"  B: {flip.second}",
            ]
    return [*lines, *result.left_out]


def _heading(result: ChangedHeads) -> str:
    measure = (
        "0 where a head looks as before, 1 where no row keeps any of its keys (root of the mean "
        "Jensen-Shannon divergence of its rows, with 95 % intervals). "
        f"{caution(result.n_sentences)}"
    ).strip()
    n = f"{result.n_sentences:,} sentence{'s' * (result.n_sentences != 1)}"
    if result.heads[0].own is None:
        return f"{len(result.heads)} heads over {n}. {measure}"
    changed = len(result.changed)
    return (
        f"{changed} of {len(result.heads)} heads changed by themselves over {n}; the others differ "
        f"only by what reaches them. {measure}"
    )


def _row(*cells: str) -> str:
    widths = (20, 22, 22, 24, 0)
    return "  ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)).rstrip()


def _number(of: Estimate | None) -> str:
    if of is None:
        return "not known"
    if of.low is None or of.high is None:
        return f"{of.mean:.3f}"
    return f"{of.mean:.3f} ({of.low:.3f} to {of.high:.3f})"


def _near(head: HeadChange) -> str:
    if not head.is_elsewhere:
        return ""
    return f"{_name(head.kind, *head.counterpart)} ({head.to_counterpart:.3f})"


def _name(kind: str, layer: int, head: int) -> str:
    return f"{kind} L{layer} H{head}"


COMMAND = Command(
    "changes",
    "changes: which heads differ between two checkpoints, and which outputs flip",
    add_arguments,
    run,
    text=lambda result: visible("\n".join(result["lines"]), " \n"),
)
