"""The engine that a command is asked for: its arguments, and what runs the shards."""

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Sequence
from pathlib import Path

from transformer.commands.arguments import positive
from transformer.corpus.shards import Shard, missing
from transformer.discover import discover
from transformer.engines.engine import Done, Engine, EngineError, Job, Resources


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


def run_shards(
    job: Job, shards: Sequence[Shard], options: Namespace, folder: Path | None = None
) -> Iterator[Done]:
    """Run shards with the engine of these options, which `add_engine` made.

    folder: the parts are written there, which is looked after at the end. Raises Refusal.
    """
    default = "ray" if options.address else "processes" if options.jobs > 1 else "here"
    resources = Resources(options.jobs, options.threads or 1, options.address)
    yield from engines()[options.engine or default].run(job, shards, resources)
    if folder is not None and (left := missing(shards, folder)):
        raise EngineError(
            f"{len(left)} parts are not in {folder}, the first of {left[0].span}: --out must be a "
            "folder that all machines share."
        )
