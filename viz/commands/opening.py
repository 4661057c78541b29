"""Commands that open the app, where a figure was made or with a module of one's own, or draw a
figure, and let models answer viewers elsewhere.
"""

import importlib.util
import sys
from argparse import ArgumentParser, Namespace
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

from transformer import Checkpoint, CheckpointError
from transformer.commands.command import Command, Result
from transformer.extras import require
from transformer.files.regular_file import read_regular
from transformer.files.weights import Misfit
from transformer.own_module.tokenizer import in_a_sentence
from transformer.refusal import Refusal
from viz.paper.record import LARGEST, FigureError, Record, read_record
from viz.screen import link
from viz.shell import add_place

# The app in a browser, and where it listens: for all commands that open it.


def place(options: Namespace) -> Result:
    """The same, as `serve` and `explore` take it."""
    return {"port": options.port, "address": options.address, "opens_browser": not options.quiet}


def open_app(options: Namespace, at: str = "") -> Result:
    """Serve the app until it is stopped. at: the link, relative to it, that is opened."""
    from viz.server.exploring import serve  # takes seconds: --help needs none of it

    serve(**place(options), at=at)
    return {}


# python -m viz open: the app where a figure was made, or with a story of one's own.


def add_arguments_open(parser: ArgumentParser) -> None:
    """Declare the arguments of `open`."""
    parser.add_argument("figure", help="an SVG, PDF, PNG, ZIP or MD that this app saved")
    add_place(parser)


def run_open(options: Namespace) -> Result:
    """Serve the app until it is stopped. Raises Refusal."""
    return open_app(options, link_of(options.figure))


def link_of(path: str) -> str:
    """The link, relative to the app, that opens a figure or a story on disk. Raises Refusal.

    What a story names and is not here is said on stderr.
    """
    if Path(path).suffix.lower() != ".md":
        return read_figure(path).link
    require("app")
    from viz.state.checkpoints import at_start, shipped_names
    from viz.talks.stories import doubts, offer

    story = offer(Path(path))
    for doubt in doubts(story, [*map(str, at_start()[0]), *shipped_names()]):
        print(f"warning: {doubt}", file=sys.stderr)
    return link(story.screen_of(1))


def read_figure(path: str) -> Record:
    """The record of a figure on disk. Raises Refusal in a sentence."""
    try:
        content = read_regular(Path(path), LARGEST)
    except Misfit as error:
        raise FigureError(f"{path} {error}.") from error
    return read_record(content, Path(path).name)


OPEN_COMMAND = Command(
    "open", "open the app where a figure was made, or a story", add_arguments_open, run_open
)


# python -m viz explore: the app with a torch module of one's own in it.

MODULE = "explored_script"
"""The name under which a script is imported: its own may be that of another module."""


def add_arguments_explore(parser: ArgumentParser) -> None:
    """Declare the arguments of `explore`."""
    parser.add_argument("script", help="script.py:build, where build() returns from_module(...)")
    add_place(parser)


def run_explore(options: Namespace) -> Result:
    """Serve the app until it is stopped. Raises Refusal."""
    require("app")
    from viz.server.exploring import explore  # takes seconds: --help needs none of it

    sys.argv = [str(Path(options.script.partition(":")[0]))]
    explore(built(options.script), block=True, **place(options))
    return {}


def built(named: str) -> Checkpoint:
    """Call the function of a script, named as "script.py:build". Raises CheckpointError."""
    path, _, name = named.rpartition(":") if ":" in Path(named).name else (named, "", "build")
    file = Path(path).absolute()
    if not file.is_file():
        raise CheckpointError(f"There is no {path} here: give a script and a function of it.")
    sys.path.insert(0, str(file.parent))  # as for `python script.py`
    spec = importlib.util.spec_from_file_location(MODULE, file)
    if spec is None or spec.loader is None:
        raise CheckpointError(f"{file.name} is not a Python script.")
    sys.modules.setdefault("headscope", import_module("viz.headscope"))  # for who did not install
    sys.modules[MODULE] = module = importlib.util.module_from_spec(spec)
    with in_a_sentence(file.name, CheckpointError):
        spec.loader.exec_module(module)
    build: Any = getattr(module, name, None)
    if not callable(build):
        raise CheckpointError(f"{file.name} has no function {name}.")
    with in_a_sentence(name, CheckpointError):
        result = build()
    if not isinstance(result, Checkpoint):
        kind = type(result).__name__
        raise CheckpointError(f"{name} must return what from_module gives; it returned {kind}.")
    return result


EXPLORE_COMMAND = Command(
    "explore", "open a torch module of your own", add_arguments_explore, run_explore
)


# python -m viz figure: a picture of an address of the app, as a file, without a browser.


def add_arguments_figure(parser: ArgumentParser) -> None:
    """Declare the arguments of `figure`."""
    parser.add_argument("screen", metavar="ADDRESS", help="of the app, as its link button gives it")
    parser.add_argument(
        "--out", required=True, help=".svg, .pdf, .png, or .zip: a crate with all that makes it"
    )
    parser.add_argument("--data", help="its numbers, too: .csv, .parquet, or .npz of all heads")
    parser.add_argument(
        "--width", type=float, help="in inches: 3.3 is a column of a paper, 6.9 two"
    )
    parser.add_argument("--slide", action="store_true", help="fill a slide of 16:9, 13.33 in wide")
    parser.add_argument("--theme", choices=("light", "dark"), default="light", help="its colours")
    parser.add_argument(
        "--scale",
        choices=("root", "linear"),
        default="root",
        help="how weights become colours: by their square root, or evenly",
    )
    parser.add_argument(
        "--font",
        default="",
        help="family or file of its typeface; DejaVu Sans, and for what it lacks one found here",
    )
    parser.add_argument(
        "--picture",
        help="of a page with several, as 'grid' on Explore; a name that is not there lists all",
    )


def run_figure(options: Namespace) -> Result:
    """Write the figure; its caption is the result. Raises Refusal."""
    require("paper")
    from viz.figure_at import save_figure  # takes a second: --help needs none of it

    caption, lacks = save_figure(options)
    if lacks:
        print(lacks, file=sys.stderr)
    return {"caption": caption}


FIGURE_COMMAND = Command(
    "figure",
    "save a picture of the app, without a browser",
    add_arguments_figure,
    run_figure,
    text=lambda result: str(result["caption"]),
)


# python -m viz models: models that answer viewers elsewhere, on Ray Serve.


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


MODELS_COMMAND = Command("models", "let models answer viewers elsewhere", add_arguments, run)


COMMAND = (OPEN_COMMAND, EXPLORE_COMMAND, FIGURE_COMMAND, MODELS_COMMAND)
