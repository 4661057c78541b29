"""python -m viz models: models that answer viewers elsewhere, on Ray Serve."""

from argparse import ArgumentParser, Namespace
from functools import partial

from transformer.commands.command import Command, Result
from transformer.extras import require
from transformer.refusal import Refusal


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments of `models`."""
    parser.add_argument(
        "--replicas", type=int, default=1, help="processes with models of their own"
    )
    parser.add_argument("--gpus", type=float, default=0, help="GPUs of each; several may share one")
    parser.add_argument(
        "--address",
        default="127.0.0.1:8600",
        help="HOST:PORT where they answer; beyond this machine they need HEADSCOPE_MODELS_TOKEN",
    )
    parser.add_argument(
        "--cluster", default="", help="HOST:PORT of a Ray that runs; else one starts"
    )


def run(options: Namespace) -> Result:
    """Answer until it is stopped. Raises Refusal."""
    if options.replicas < 1 or options.gpus < 0:
        raise Refusal("--replicas is 1 or more, and --gpus 0 or more.")
    require("app")
    from viz.server.models.on_ray import Plan, until_stopped  # takes seconds: --help needs none

    plan = Plan(options.address, options.replicas, options.gpus, options.cluster)
    until_stopped(plan, partial(print, flush=True))
    return {}


COMMAND = Command("models", "let models answer viewers elsewhere", add_arguments, run)
