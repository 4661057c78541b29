"""The engine that a command is asked for: its arguments, and what runs the shards."""

import os
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Sequence
from pathlib import Path

from transformer.commands.arguments import positive
from transformer.corpus.shards import Shard, missing
from transformer.discover import discover
from transformer.engines.engine import Done, Engine, EngineError, Job, Resources
from transformer.training.evaluation.say import say


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
