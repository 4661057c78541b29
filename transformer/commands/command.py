"""A command of the shell, declared as data, and arguments that several commands take."""

import os
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from transformer.corpus.shards import Shard, missing
from transformer.discover import discover
from transformer.engines.engine import Done, Engine, EngineError, Job, Resources
from transformer.formats.opening import locate
from transformer.training.evaluation.translations import say

# A command of the shell, declared as data.

Result = dict[str, Any]
"""Names and values, as JSON has them."""


def table(result: Result) -> str:
    """A line for each name; what is a list is counted, unless it is of sentences."""
    width = max(map(len, result))
    return "\n".join(f"{name:<{width}}  {_value(value)}" for name, value in result.items())


def _value(value: object) -> str:
    if isinstance(value, list):
        # What is said in sentences has a line each; tables are for --json.
        lines = [each for each in value if isinstance(each, str)] or ["none"] * (not value)
        return "; ".join(lines) or f"{len(value)} rows, by --json"
    if not isinstance(value, float):
        return str(value)
    return f"{value:.2f}" if abs(value) >= 0.01 or not value else f"{value:g}"


@dataclass(frozen=True)
class Command:
    """One command: what `python -m transformer NAME` takes and does."""

    name: str
    title: str
    """A sentence in the imperative, for --help."""
    add_arguments: Callable[[ArgumentParser], None]
    """Adds its own; all commands have --device, --threads and --json."""
    run: Callable[[Namespace], Result]
    """Raises Refusal."""
    text: Callable[[Result], str] = table
    """Makes the text that is printed of a result without --json."""


# Arguments that several commands take.

MOST_THREADS = 1024
OTHERS = ".gz .html .json .jsonl .md .npz .ods .parquet .pdf .png .svg .tsv .xls .xlsx .zip"
"""Endings of other formats than that of a table's file."""


def add_checkpoint(parser: ArgumentParser) -> None:
    """The checkpoint that a command is about."""
    help = (
        "a folder, a name in checkpoints/ or one on Hugging Face's hub; BASE::ADAPTER adds a LoRA "
        "adapter"
    )
    parser.add_argument("checkpoint", type=checkpoint, help=help)


def add_data(parser: ArgumentParser, help: str, required: bool = True) -> None:
    """The file of sentences that a command reads."""
    parser.add_argument("--data", type=Path, required=required, metavar="FILE", help=help)


def checkpoint(text: str) -> Path:
    """A folder as it stands, a shipped one's name or one on the hub; or two such.

    Raises CheckpointError where the hub does not give it.
    """
    return locate(text)


def named_folder(text: str) -> Path:
    """A folder to write into: not what a shell's empty variable is. Raises ArgumentTypeError."""
    if not text:
        raise ArgumentTypeError("must name a folder")
    return Path(text)


def new_file(text: str) -> Path:
    """A file to write; a folder is refused before the work. Raises ArgumentTypeError."""
    if not text:
        raise ArgumentTypeError("must name a file")
    if Path(text).is_dir():
        raise ArgumentTypeError("must name a file, and is a folder")
    return Path(text)


def csv_file(text: str) -> Path:
    """The same of a table, whose ending says no other format. Raises ArgumentTypeError."""
    file = new_file(text)
    if (
        file.suffix.lower() in OTHERS.split()
    ):  # not any other: a name such as run-1.2 has a point, too
        raise ArgumentTypeError("is written as CSV: end its name in .csv")
    return file


def threads(text: str) -> int:
    """Threads of the processor: thousands end the process, in torch. Raises ArgumentTypeError."""
    number = positive(text)
    if number > MOST_THREADS:
        raise ArgumentTypeError(f"must be at most {MOST_THREADS:,}")
    return number


def positive(text: str) -> int:
    """A whole number from 1. Raises ArgumentTypeError."""
    number = int(text)
    if not 1 <= number < 10**9:
        raise ArgumentTypeError("must be at least 1 and below a billion")
    return number


# The engine that a command is asked for: its arguments, and what runs the shards.


def engines() -> dict[str, Engine]:
    """Name -> engine."""
    return discover("transformer.engines", "ENGINE")


def add_engine(parser: ArgumentParser) -> None:
    """Add --jobs, --engine and --address."""
    titles = "; ".join(f"{name}: {engine.title}" for name, engine in engines().items())
    parser.add_argument(
        "--jobs", type=positive, default=1, metavar="N", help="processes that work at a time"
    )
    parser.add_argument(
        "--engine",
        choices=list(engines()),
        help=f"where they work ({titles}); without it here, or with --jobs as processes",
    )
    parser.add_argument(
        "--address", default="", metavar="HOST:PORT", help="of a cluster that runs (--engine ray)"
    )


def is_elsewhere(options: Namespace) -> bool:
    """Tell whether shards are to run in other processes than this one."""
    return options.jobs > 1 or bool(options.address) or options.engine not in (None, "here")


def n_jobs(options: Namespace) -> int:
    """Return the number of processes: on this machine at most one for each of its processors.

    Each has a model of its own: more of them would fill the memory, and save no time.
    """
    has_affinity = hasattr(os, "sched_getaffinity")  # a container may have a part of the machine
    most = len(os.sched_getaffinity(0)) if has_affinity else os.cpu_count() or 1
    if options.address or options.engine == "here" or options.jobs <= most:
        return int(options.jobs)
    say(f"{most} at a time, not {options.jobs}: this machine has no more processors.")
    return most


def run_shards(
    job: Job, shards: Sequence[Shard], options: Namespace, folder: Path | None = None
) -> Iterator[Done]:
    """Run shards with the engine of these options, which `add_engine` made.

    folder: the parts are written there, which is looked after at the end. Raises Refusal.
    """
    default = "ray" if options.address else "processes" if options.jobs > 1 else "here"
    resources = Resources(n_jobs(options), options.threads or 1, options.address)
    yield from engines()[options.engine or default].run(job, shards, resources)
    if folder is not None and (left := missing(shards, folder)):
        raise EngineError(
            f"{len(left)} parts are not in {folder}, the first of {left[0].span}: --out must be a "
            "folder that all machines share."
        )
