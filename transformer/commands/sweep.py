"""python -m transformer sweep: every head off on the sentences of a file."""

import time
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path

import torch
from tqdm import tqdm

from transformer.analysis.corpus_sweep import Worth, caution, strongest, sweep_sentences, worths
from transformer.analysis.scored import output_of
from transformer.analysis.tables import Line, check_place, read, write
from transformer.checkpoint import Checkpoint
from transformer.commands.command import (
    Command,
    Result,
    add_checkpoint,
    add_data,
    add_engine,
    is_elsewhere,
    run_shards,
    table,
)
from transformer.corpus.survey import by_line, empty_lines
from transformer.formats.opening import load_checkpoint
from transformer.hugging_face.model import pairing
from transformer.inputs import InputError
from transformer.training.evaluation.heads import head_bleu
from transformer.training.evaluation.translations import say
from transformer.training.task import lines_in

PAUSE = 5.0
"""Seconds between two times that the table is written."""
MEASURES = {
    "nats": "mean change of the output's log-probability, in nats",
    "degrees": "mean of minus the angle by which the vector turns, in degrees",
    "units": "mean change of the number that the model gives (of several the one that heads "
    "change most in the first sentence), in its own units",
}
"""Unit of a change -> its heading."""


def add_arguments(parser: ArgumentParser) -> None:
    """Add what `sweep` takes."""
    add_checkpoint(parser)
    add_data(parser, "a sentence per line; what follows a tab is left out (--bleu reads it)")
    parser.add_argument(
        "--out", type=Path, help="a .csv or .parquet; one that is there is continued"
    )
    parser.add_argument(
        "--pairs",
        type=_count,
        default=0,
        metavar="N",
        help="all pairs of the N heads that are worth most, too",
    )
    parser.add_argument(
        "--pair",
        metavar="TEXT",
        help="a second text: the model reads each sentence and it as a pair",
    )
    parser.add_argument(
        "--bleu",
        type=_count,
        default=0,
        metavar="N",
        help="instead: BLEU of the file's first N sentences with each head off, and with each "
        "as the only one of its layer, as Markdown in --out; a line: source, tab, reference",
    )
    add_engine(parser)


def run(options: Namespace) -> Result:
    """Measure what each head is worth, and pairs of them. Raises Refusal."""
    if options.bleu and is_elsewhere(options):
        raise InputError("BLEU is computed here: leave out --jobs, --engine and --address.")
    if options.bleu and (options.pairs or options.pair is not None):
        raise InputError("BLEU is of heads one by one, on single texts: leave out --pairs, --pair.")
    if options.bleu:
        return _bleu(options)
    torch.set_num_threads(options.threads or 1)  # as engines do, so that all give the same bytes
    if options.out is not None:
        check_place(options.out)
    sentences = _sentences(options.data)
    before = [] if options.out is None else read(options.out)
    checkpoint = load_checkpoint(options.checkpoint, options.device)
    if options.pair is not None:
        checkpoint = pairing(checkpoint, options.pair)
    left_out = empty_lines(lines_in(options.data))
    for why in left_out:
        say(why)
    lines = _swept(checkpoint, sentences, before, options, left_out)
    if not lines:
        raise InputError(f"{options.data} has no sentence that is swept: {left_out[0]}")
    worth = [asdict(each) for each in worths(lines)]
    writes = checkpoint.family.decodes
    output = None if writes else output_of(checkpoint, lines[0].source, None)
    return {
        "unit": output.unit if output else "nats",
        "others": output.others if output else "words",
        "sentences": len({line.sentence for line in lines}),
        "heads": [each for each in worth if " " not in each["edits"]],
        "pairs": [each for each in worth if " " in each["edits"]],
        "left_out": by_line(left_out),
    }


def _swept(
    checkpoint: Checkpoint,
    sentences: dict[int, str],
    before: Sequence[Line],
    options: Namespace,
    left_out: list[str],
) -> list[Line]:
    """left_out: takes the reasons why sentences are left out, which are said, too."""

    def leave_out(why: str) -> None:
        left_out.append(why)
        say(why)

    saved_at = time.monotonic()
    latest: Sequence[Line] = ()
    try:
        with tqdm(total=len(sentences), desc="Sweep", unit="sentence", dynamic_ncols=True) as bar:
            pair = (options.pair or "").strip()
            run = partial(run_shards, options=options) if is_elsewhere(options) else None
            arguments = (checkpoint, sentences, before, options.pairs, leave_out, pair, run)
            for latest in sweep_sentences(*arguments):
                bar.n = len({line.sentence for line in latest})
                bar.refresh()
                if options.out is not None and time.monotonic() - saved_at > PAUSE:
                    write(options.out, latest)
                    saved_at = time.monotonic()
    finally:  # stopped, too
        if options.out is not None and latest:
            write(options.out, latest)
    return list(latest)


def _sentences(file: Path) -> dict[int, str]:
    """Line number from 1 -> its sentence, but for empty ones. Raises Refusal."""
    lines = lines_in(file)
    texts = {i: line.partition("\t")[0].strip() for i, line in enumerate(lines, 1)}
    sentences = {i: text for i, text in texts.items() if text}
    if not sentences:
        raise InputError(f"{file} has no sentence: write one per line.")
    return sentences


def text(result: Result) -> str:
    """Edit, mean and interval, those that cost most first; then pairs by their synergy."""
    if "heads" not in result:  # of BLEU
        return table(result)
    heads, pairs = ([Worth(**each) for each in result[kind]] for kind in ("heads", "pairs"))
    unit = result["unit"]
    lines = {MEASURES[unit]: "between these lie 95 % of the means of resampled sentences"}
    if warning := caution(*(each.n_sentences for each in [*heads, *pairs])):
        lines["caution"] = warning
    others = result.get("others", "words")
    lines |= {each.edits: _line(each, others) for each in strongest(heads, len(heads))}
    if pairs:
        lines[f"synergy of pairs, in {unit}"] = "below 0: one makes up for the loss of the other"
        lines |= {each.edits: _line(each, others) for each in strongest(pairs, len(pairs))}
    return table(lines)


def _line(each: Worth, others: str) -> str:
    """others: what may become another one, such as "words"; empty: nothing is chosen."""
    n = f"{each.n_sentences:,} sentence{'s' * (each.n_sentences != 1)}"
    share = f"other {others} in {100 * each.share_other:.0f} % of {n}" if others else f"over {n}"
    ends = "" if each.low is None else f"  [{each.low:+.4f}, {each.high:+.4f}]"
    return f"{each.mean:+8.4f}{ends}  {share}"


def _bleu(options: Namespace) -> Result:
    if options.out is not None and options.out.suffix != ".md":
        raise InputError(f"{options.out} must end in .md: BLEU is written as Markdown.")
    checkpoint = load_checkpoint(options.checkpoint, options.device)
    return head_bleu(checkpoint, options.data, options.bleu, options.out)


def _count(text: str) -> int:
    number = int(text)
    if not 1 <= number < 10**6:
        raise ArgumentTypeError("must be at least 1 and below a million")
    return number


COMMAND = Command(
    "sweep",
    "head ablation: switch every head off, one by one, on a file's sentences",
    add_arguments,
    run,
    text,
)
