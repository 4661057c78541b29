"""The engine that a command is asked for: its arguments, and what runs the shards."""

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Sequence

from transformer.commands.arguments import positive
from transformer.corpus.shards import Shard
from transformer.discover import discover
from transformer.engines.engine import Done, Engine, Job


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


def run_shards(job: Job, shards: Sequence[Shard], options: Namespace) -> Iterator[Done]:
    """Run shards with the engine of these options, which `add_engine` made. Raises Refusal."""
    name = options.engine or (
        "ray" if options.address else "processes" if options.jobs > 1 else "here"
    )
    return engines()[name].run(job, shards, options.jobs, options.address)
