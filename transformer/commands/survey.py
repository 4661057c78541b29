"""python -m transformer survey: every head over the sentences of a file, a part per shard."""

import json
import time
from argparse import ArgumentParser, Namespace
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from tqdm import tqdm

from transformer.analysis.corpus_sweep import caution
from transformer.commands.command import (
    Command,
    Result,
    add_checkpoint,
    add_data,
    add_engine,
    named_folder,
    positive,
    run_shards,
)
from transformer.corpus.measured import columns, metrics, roles
from transformer.corpus.shards import (
    SIZE,
    VERSION,
    Parts,
    begin,
    compare,
    make_folder,
    manifest_of,
    missing,
    options_in,
    remove_damaged,
    shards_of,
)
from transformer.corpus.summary import read_survey, summary
from transformer.corpus.survey import BATCH, SurveyJob, counted, refuse_precision, source_of
from transformer.corpus.surveyed import HeadSummary
from transformer.corpus.trees import ENDING, Tree, read_trees
from transformer.device import (
    asked_dtype,
    choose_device,
    inference_dtype,
    precision_name,
    precision_of,
)
from transformer.extras import require
from transformer.files.foreign_text import write_whole
from transformer.formats.opening import load_checkpoint
from transformer.inputs import InputError
from transformer.training.evaluation.translations import say
from transformer.training.task import lines_in

JSON, CSV = "_survey.json", "_survey.csv"
"""Files of the summary, beside the parts; what reads the folder as one table passes them over."""
STAGES = {"decode": "decoding", "record": "recording", "metrics": "metrics", "write": "writing"}


def add_arguments(parser: ArgumentParser) -> None:
    """Add what `survey` takes."""
    add_checkpoint(parser)
    help = (
        "a sentence per line; a target may follow a tab, else the model writes it greedily; "
        f"or a {ENDING} file, with the trees of its sentences"
    )
    add_data(parser, help)
    parser.add_argument(
        "--out",
        type=named_folder,
        required=True,
        metavar="FOLDER",
        help=f"the parts, {JSON} and {CSV}; what is there of the same survey is not done again",
    )
    parser.add_argument(
        "--batch", type=positive, default=BATCH, metavar="N", help="sentences at a time"
    )
    add_engine(parser)


def run(options: Namespace) -> Result:
    """Survey what no part has yet, then summarise all parts. Raises Refusal."""
    require("survey")
    has_trees = options.data.suffix == ENDING
    trees = read_trees(options.data) if has_trees else []
    lines = [tree.text for tree in trees] if has_trees else lines_in(options.data)
    if not any(map(source_of, lines)):
        form = "a file of Universal Dependencies has trees" if has_trees else "write one per line"
        raise InputError(f"{options.data} has no sentence: {form}.")
    folder = options.out.absolute()
    make_folder(folder)
    layout = {"lines": VERSION, "columns": list(columns()), "trees": bool(trees)}
    device = choose_device(options.device)
    # What decides the last digits, too: parts of several kinds are no one survey.
    arithmetic = {"device": device.type, "threads": options.threads or 1}
    precision = options_in(folder).get("precision")
    choices = {"shard": SIZE, "batch": options.batch, **layout, **arithmetic}
    choices["precision"] = precision or precision_name(inference_dtype(device))
    manifest = manifest_of(options.checkpoint, options.data, choices)
    compare(folder, manifest)
    if precision and (dtype := asked_dtype()):
        refuse_precision(precision_name(dtype), precision)
    for file in remove_damaged(shards_of(lines), folder):
        say(f"{file} was damaged, as by a full disk or a copy that was cut: it is made anew.")
    left = missing(shards_of(lines), folder)
    for sentence in Parts(folder).left_out:
        say(sentence)
    seconds: Counter[str] = Counter()
    start = time.monotonic()
    if left:
        job = _job(options, lines, trees, folder, precision)
        manifest["options"]["precision"] = job.precision
        begin(folder, manifest)
        n_left = sum(len(shard.lines) for shard in left)
        with tqdm(total=n_left, desc="Survey", unit="sentence", dynamic_ncols=True) as bar:
            bar.set_postfix_str(_shards(0, len(left)))
            for n, done in enumerate(run_shards(job, left, options, folder), 1):
                seconds.update(done.seconds)
                for sentence in done.left_out:
                    say(sentence)
                bar.set_postfix_str(_shards(n, len(left)), refresh=False)
                bar.update(done.lines + len(done.left_out))
    wall = time.monotonic() - start
    parts = Parts(folder)
    survey = replace(summary(parts, parts.one_by_one), left_out=parts.left_out)
    if not survey.n_sentences:
        why = f": {survey.left_out[0]}" if survey.left_out else "."
        raise InputError(f"{options.data} has no sentence that could be surveyed{why}")
    write_whole(folder / JSON, survey.to_json().encode())
    write_whole(folder / CSV, survey.to_csv())
    return {
        "written": str(options.out),
        "sentences": survey.n_sentences,
        "one_by_one": survey.one_by_one,
        "left_out": list(survey.left_out),
        "seconds": {"all": wall, **seconds},
        "heads": json.loads(survey.to_json())["heads"],
    }


def _job(
    options: Namespace, lines: list[str], trees: list[Tree], folder: Path, precision: str | None
) -> SurveyJob:
    """Make the job. precision: that of the parts which are there; None: there are none yet."""
    checkpoint = load_checkpoint(options.checkpoint, options.device)  # a bad one is said at once
    opened = precision_of(checkpoint.model)
    refuse_precision(opened, precision or opened)
    counts = counted(checkpoint, lines)
    place, of_lines = options.checkpoint.absolute(), dict(enumerate(trees, 1)) or None
    return SurveyJob(place, options.device, folder, options.batch, counts, of_lines, opened)


def _shards(n: int, of: int) -> str:
    return f"shard {n} of {of}"


def text(result: Result) -> str:
    """A table of heads by metric and role, then where the time went."""
    survey = read_survey(json.dumps({"n_sentences": result["sentences"], **result}))
    names = [
        name
        for name in (*metrics(), *roles())
        if any(name in head.numbers for head in survey.heads)
    ]
    rows = [("head", *names), *(_row(head, names) for head in survey.heads)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    table = ["  ".join(map(str.rjust, row, widths)) for row in rows]
    seconds = dict(result["seconds"])
    wall, work = seconds.pop("all"), sum(seconds.values())
    shares = ", ".join(
        f"{STAGES.get(name, name)} {100 * part / work:.0f} %" for name, part in seconds.items()
    )
    spent = f" ({wall:.0f} s: {shares})" if work else ""
    if survey.one_by_one:
        spent += f", read one by one as {survey.one_by_one}"
    heading = f"Means over {survey.n_sentences:,} sentences{spent}; intervals are in {CSV}."
    heading = f"{heading} {caution(survey.n_sentences)}".strip()
    return "\n".join([heading, *table, *titled(names)])


def titled(names: Iterable[str]) -> list[str]:
    """Lines that give the titles on screen of names of numbers, where these are other words."""
    every = metrics() | roles()
    return [f"{name} is “{every[name].title}” on the screen." for name in names if is_other(name)]


def is_other(name: str) -> bool:
    """Tell whether the title of a metric or role has another word than its name.

    >>> is_other("rare"), is_other("confidence")  # On the rarest token; Sharpness
    (False, True)
    """
    return name not in (metrics() | roles())[name].title.casefold()


def _row(head: HeadSummary, names: list[str]) -> tuple[str, ...]:
    place = f"{head.kind} L{head.layer} H{head.head}"
    means = (head.numbers.get(name) for name in names)
    return (place, *("" if each is None else f"{each.mean:.3f}" for each in means))


COMMAND = Command(
    "survey",
    "survey: what every head does over the sentences of a file, in batches",
    add_arguments,
    run,
    text,
)
