"""python -m viz open: the app where a figure was made, or with a story of one's own."""

import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path

from transformer.commands.command import Command, Result
from transformer.extras import require
from transformer.files.regular_file import read_regular
from transformer.files.weights import Misfit
from viz.commands.app import add_place, open_app
from viz.paper.record import LARGEST, FigureError, Record, read_record
from viz.screen import link


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments of `open`."""
    parser.add_argument("figure", help="an SVG, PDF, PNG, ZIP or MD that this app saved")
    add_place(parser)


def run(options: Namespace) -> Result:
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


COMMAND = Command("open", "open the app where a figure was made, or a story", add_arguments, run)
