"""python -m transformer survey, carriers: heads over many sentences, and which of them carry a
negation.
"""

import json
import time
from argparse import ArgumentParser, Namespace
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import torch
from tqdm import tqdm

from transformer.analysis.corpus_sweep import caution
from transformer.causes.change import NEGATING, smallest_change
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
from transformer.corpus.carriers import FILE, find_carriers, shipped_carriers, write_carriers
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
from transformer.corpus.shipped import FOLDER
from transformer.corpus.shipping import sentences_for, sentences_in
from transformer.corpus.summary import read_survey, summary
from transformer.corpus.survey import BATCH, SurveyJob, counted, refuse_precision, source_of
from transformer.corpus.surveyed import HeadSummary
from transformer.corpus.trees import ENDING, Tree, read_trees
from transformer.decoding.decode import decoding_methods, default_method
from transformer.device import (
    asked_dtype,
    choose_device,
    inference_dtype,
    precision_name,
    precision_of,
)
from transformer.edits.edit import Edit
from transformer.extras import require
from transformer.files.foreign_text import write_whole
from transformer.fingerprint import fingerprint, is_marked
from transformer.formats.opening import load_checkpoint
from transformer.inputs import InputError
from transformer.training.evaluation.translations import say
from transformer.training.task import lines_in

# python -m transformer survey: every head over the sentences of a file, a part per shard.

JSON, CSV = "_survey.json", "_survey.csv"
"""Files of the summary, beside the parts; what reads the folder as one table passes them over."""
STAGES = {"decode": "decoding", "record": "recording", "metrics": "metrics", "write": "writing"}


def add_arguments_survey(parser: ArgumentParser) -> None:
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


def run_survey(options: Namespace) -> Result:
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


SURVEY_COMMAND = Command(
    "survey",
    "survey: what every head does over the sentences of a file, in batches",
    add_arguments_survey,
    run_survey,
    text,
)


# python -m transformer carriers: keep which heads carry the negation, beside the weights.


def add_arguments_carriers(parser: ArgumentParser) -> None:
    """Add what `carriers` takes."""
    add_checkpoint(parser)
    help = "a sentence per line; left out, sentences that come with Headscope"
    add_data(parser, help, required=False)
    help = "the language that the model writes, whose negating words are known"
    parser.add_argument("--language", choices=list(NEGATING), required=True, help=help)
    help = f"the folder of {FILE}; left out, {FOLDER}/ in the checkpoint's folder"
    parser.add_argument("--out", type=Path, metavar="FOLDER", help=help)


def run_carriers(options: Namespace) -> Result:
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


CARRIERS_COMMAND = (
    Command(
        "carriers",
        "keep which heads carry the negation of a translator beside its weights",
        add_arguments_carriers,
        run_carriers,
    ),
    Command(
        "smallest-change",
        "the fewest heads without which a text loses a word",
        add_arguments_smallest_change,
        run_smallest_change,
    ),
)


COMMAND = (
    SURVEY_COMMAND,
    *CARRIERS_COMMAND,
)
