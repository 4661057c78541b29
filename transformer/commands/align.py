"""python -m transformer align: which head of a translator aligns words, and a corpus by it."""

import json
import re
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

from tqdm import tqdm

from transformer.analysis.alignment import ROWS, Reader, read_gold
from transformer.analysis.corpus_sweep import caution
from transformer.commands.command import (
    Command,
    Result,
    add_checkpoint,
    csv_file,
    new_file,
    positive,
)
from transformer.corpus.align import (
    AlignedLine,
    Aligner,
    LinePair,
    ReaderScore,
    Readings,
    aligning,
    pairs_of,
)
from transformer.corpus.survey import BATCH
from transformer.corpus.surveyed import Estimate
from transformer.files.foreign_text import Unwritten, write_whole
from transformer.formats.opening import load_checkpoint
from transformer.inputs import InputError
from transformer.refusal import visible
from transformer.training.task import lines_in

N_READERS, N_LEFT_OUT = 12, 10
"""Readers, and lines that were left out, that are printed; --json has all."""
JSON_LINES = ".jsonl"
_BETWEEN = re.compile(r"\t| \|\|\| ")
_PLACE = re.compile(r"([0-9]{1,3})(?:\.([0-9]{1,3}))?")


def add_arguments(parser: ArgumentParser) -> None:
    """Add what `align` takes."""
    add_checkpoint(parser)
    help = (
        "a sentence per line; its translation may follow a tab, or |||, else the model writes it "
        "greedily; words are what spaces separate"
    )
    parser.add_argument("corpus", type=Path, metavar="CORPUS", help=help)
    help = "the translations, a line for each of CORPUS, where they are a file of their own"
    parser.add_argument("--target", type=Path, metavar="FILE", help=help)
    help = (
        "links that people made: a line per pair, as 0-0 1-2, possible ones as 0?1 or 0p1; or the "
        "form of NAACL 2003, a line per link"
    )
    parser.add_argument("--gold", type=Path, metavar="FILE", help=help)
    help = "what the words of --gold are counted from; left out 0, and 1 in the form of NAACL"
    parser.add_argument("--gold-base", type=int, choices=(0, 1), help=help)
    help = "the links of --gold have the target's word first"
    parser.add_argument("--gold-turned", action="store_true", help=help)
    help = "the head to align by, as 2.3, or the mean of a layer, as 2; left out, the best one"
    parser.add_argument("--head", type=place, metavar="LAYER.HEAD", help=help)
    titles = "; ".join(f"{name}: by the {title}" for name, title in ROWS.items())
    parser.add_argument(
        "--rows", choices=list(ROWS), default="produced", help=f"of --head ({titles})"
    )
    parser.add_argument("--max", type=positive, metavar="N", help="only the first N lines")
    help = (
        f"the alignment, a line per pair, as 0-0 1-2; a name that ends in {JSON_LINES} gets words "
        "and weights"
    )
    parser.add_argument("--out", type=new_file, metavar="FILE", help=help)
    help = "a .csv with a line per head, mean of a layer, and row"
    parser.add_argument("--table", type=csv_file, metavar="FILE", help=help)
    parser.add_argument(
        "--batch", type=positive, default=BATCH, metavar="N", help="pairs at a time"
    )


def place(text: str) -> tuple[int, int | None]:
    """A layer and a head, or a layer alone. Raises ArgumentTypeError."""
    match = _PLACE.fullmatch(text)
    if match is None:
        raise ArgumentTypeError("must be a layer and a head, as 2.3, or a layer, as 2")
    return int(match[1]), None if match[2] is None else int(match[2])


def run(options: Namespace) -> Result:
    """Choose a head over the corpus, and align the corpus by it. Raises Refusal."""
    lines = _lines(options)
    aligner = Aligner(load_checkpoint(options.checkpoint, options.device), options.batch)
    reader = None if options.head is None else Reader(options.rows, *options.head)
    if options.out is not None:
        write_whole(options.out, b"")  # where it cannot be, that is said before the work
    readings, n_aligned, n_written = Readings("anchors"), 0, 0
    with tqdm(total=len(lines), desc="Align", unit="pair", dynamic_ncols=True) as bar:
        for readings, some in aligning(aligner, lines, reader):
            bar.update(readings.n_done - bar.n)
            if some and options.out is not None:
                _append(options.out, some, range(n_written + 1, readings.n_done + 1))
                n_written = readings.n_done
            n_aligned += len(some)
    if options.table is not None:
        write_whole(options.table, readings.to_csv())
    reader = reader or readings.best
    return {
        "reader": {name: getattr(reader, name) for name in PLACE},
        "by": readings.by,
        "pairs": readings.n_pairs,
        "links": readings.n_links,
        "aligned": n_aligned,
        "diagonal": None if readings.diagonal is None else asdict(readings.diagonal),
        "scores": [_values(each) for each in readings.scores],
        "alignment_heads": readings.alignment_heads,
        "left_out": list(readings.left_out),
        "lines": [*_summary(readings, reader, n_aligned), *_left_out(readings)],
    }


def _lines(options: Namespace) -> dict[int, LinePair]:
    """The pairs of the files, with their gold links. Raises Refusal."""
    split = [_BETWEEN.split(line, 1) for line in _whole(options.corpus)[: options.max]]
    if not any(line[0].strip() for line in split):
        raise InputError(f"{options.corpus} has no sentence: write one per line.")
    targets = [line[1].strip() if len(line) > 1 else "" for line in split]
    if options.target is not None:
        if any(targets):
            raise InputError(f"{options.corpus} has translations: leave --target out.")
        targets = _whole(options.target)[: options.max]
        if len(targets) != len(split):
            raise InputError(
                f"{options.target} has {len(targets):,} lines for the {len(split):,} of "
                f"{options.corpus}."
            )
    gold = None
    if options.gold is not None:
        if not any(targets):
            raise InputError("--gold is of given translations: put them behind a tab, or --target.")
        of = lines_in(options.gold)
        gold = read_gold(of, len(_whole(options.corpus)), options.gold_base, options.gold_turned)
    return pairs_of([line[0] for line in split], targets, gold)


def _whole(file: Path) -> list[str]:
    """Its lines, without the empty one at its end."""
    lines = lines_in(file)
    return lines if lines[-1:] != [""] else lines[:-1]


def _append(file: Path, lines: Sequence[AlignedLine], numbers: Sequence[int]) -> None:
    """Add alignments to the file; the lines of pairs that were left out are empty."""
    by_number = {line.sentence: line for line in lines}
    if file.suffix == JSON_LINES:
        texts = [json.dumps(asdict(line), ensure_ascii=False) for line in lines]
    else:
        every = [by_number.get(number) for number in numbers]
        texts = ["" if line is None else line.pharaoh for line in every]
    try:
        with file.open("a", encoding="utf-8", newline="\n") as stream:
            stream.writelines(f"{text}\n" for text in texts)
    except OSError as error:
        raise Unwritten(f"{file} cannot be written: {error.strerror}.") from error


PLACE = ("rows", "layer", "head")


def _values(score: ReaderScore) -> Result:
    place = {name: getattr(score.reader, name) for name in PLACE}
    return place | asdict(score.error) | {"precision": score.precision, "recall": score.recall}


# The text: the best of each layer, then the best of all.


def _summary(readings: Readings, reader: Reader, n: int) -> list[str]:
    aligned = f"{n:,} {'pair is' if n == 1 else 'pairs are'} aligned by {_name(reader)}."
    if not readings.scores:
        return [aligned]
    gold = f"{readings.n_links:,} sure links that people made"
    anchors = f"{readings.n_links:,} words and signs that both texts spell alike, once each"
    of = gold if readings.by == "gold" else anchors
    assert readings.diagonal is not None
    heading = (
        f"Alignment error rate in percent, 0 is best (Och and Ney 2003), by {of}, in "
        f"{readings.n_pairs:,} pairs; 95 % intervals over pairs. {caution(readings.n_pairs)}"
    )
    return [
        heading.strip(),
        "",
        _row("layer", *(f"{what}, {rows}" for what in ("head", "mean") for rows in ROWS)),
        *_by_layer(readings.scores),
        "",
        _row("the best", "error rate", "precision", "recall", "rows"),
        *(_row(*_cells(each)) for each in readings.scores[:N_READERS]),
        _row("the diagonal", _error(readings.diagonal)),
        "",
        *(f"{name}: by the {title}." for name, title in ROWS.items()),
        f"The best is the best of {len(readings.scores)} for these very pairs: its rate is a "
        "little low.",
        f"alignment_heads: {json.dumps(readings.alignment_heads)}",
        aligned,
    ]


def _left_out(readings: Readings) -> Iterator[str]:
    yield from readings.left_out[:N_LEFT_OUT]
    if n_more := len(readings.left_out[N_LEFT_OUT:]):
        yield f"... and {n_more:,} more, by --json."


def _by_layer(scores: Sequence[ReaderScore]) -> Iterator[str]:
    """A line for each layer: the best head by either row, and the mean of all by either."""
    for layer in sorted({each.reader.layer for each in scores}):
        own = [each for each in scores if each.reader.layer == layer]
        cells = []
        for is_mean in (False, True):
            for rows in ROWS:
                best = next(
                    each
                    for each in own
                    if each.reader.rows == rows and (each.reader.head is None) == is_mean
                )
                name = "" if is_mean else f"H{best.reader.head} "
                cells.append(f"{name}{best.error.mean:.1f}")
        yield _row(f"L{layer}", *cells)


def _name(reader: Reader) -> str:
    what = f"{reader.name} mean" if reader.head is None else reader.name
    return f"{what}, {reader.rows}"


def _cells(score: ReaderScore) -> tuple[str, ...]:
    precision, recall = (f"{each:.3f}" for each in (score.precision, score.recall))
    name, _, rows = _name(score.reader).partition(", ")
    return name, _error(score.error), precision, recall, rows


def _error(of: Estimate) -> str:
    ends = "" if of.low is None or of.high is None else f" ({of.low:.1f} to {of.high:.1f})"
    return f"{of.mean:.1f}{ends}"


def _row(*cells: str) -> str:
    widths = (14, 22, 16, 16, 0)
    return "  ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=False)).rstrip()


COMMAND = Command(
    "align",
    "say which head of a translator aligns words, and align a corpus by it",
    add_arguments,
    run,
    text=lambda result: visible("\n".join(result["lines"]), " \n"),
)
