"""Figures from a shell: `python -m viz figure ADDRESS --out FILE`, and `open`, which goes back."""

import argparse
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from transformer.checkpoint import CheckpointError
from transformer.discover import discover
from transformer.files.foreign_text import listed
from transformer.files.found import Misfit
from transformer.files.regular_file import read_regular
from transformer.files.whole_file import write_whole
from transformer.refusal import Refusal
from viz.export import recording_npz
from viz.paper.crate import crate
from viz.paper.figure import KINDS, Figure
from viz.paper.record import LARGEST, FigureError, Record, parts_of, read_record
from viz.paper.table import KINDS as TABLES
from viz.paper.table import table
from viz.screen import Screen, link, parse, unread
from viz.theme import theme as theme_of

if TYPE_CHECKING:
    from viz.state.page import Pane, Shown


def add_commands(
    commands: "argparse._SubParsersAction[argparse.ArgumentParser]",
) -> argparse.ArgumentParser:
    """Tell a parser of both. Returns that of the one that opens the app."""
    figure = commands.add_parser("figure", help="save a picture of the app, without a browser")
    figure.add_argument("screen", metavar="ADDRESS", help="of the app, as its link button gives it")
    figure.add_argument(
        "--out", required=True, help=".svg, .pdf, .png, or .zip: a crate with all that makes it"
    )
    figure.add_argument("--data", help="its numbers, too: .csv, .parquet, or .npz of all heads")
    figure.add_argument(
        "--width", type=float, help="in inches: 3.3 is a column of a paper, 6.9 two"
    )
    figure.add_argument("--theme", choices=("light", "dark"), default="light", help="its colours")
    figure.add_argument(
        "--picture",
        help="of a page with several, as 'grid' on Explore; a name that is not there lists all",
    )
    opener = commands.add_parser("open", help="open the app where a figure was made, or a story")
    opener.add_argument("figure", help="an SVG, PDF, PNG, ZIP or MD that this app saved")
    return opener


def save_figure(options: argparse.Namespace) -> None:
    """Make the figure and print its caption. Raises Refusal in a sentence."""
    kind = Path(options.out).suffix.removeprefix(".").lower()
    if kind not in (*KINDS, "zip"):
        raise FigureError(f"{options.out} must end in {_endings(*KINDS, 'zip')}.")
    of_data = Path(options.data or ".csv").suffix.removeprefix(".").lower()
    if options.data and of_data not in (*TABLES, "npz"):
        raise FigureError(f"{options.data} must end in {_endings(*TABLES, 'npz')}.")
    from streamlit.config import set_option  # takes a second: --help needs none of it
    from streamlit.logger import set_log_level

    set_option("logger.level", "error")  # it misses a server, and none is needed
    set_log_level("error")  # streamlit hears of the option only while it reads its settings
    from viz.ui.printing import figure_of, numbers_of

    pane, figures = page_of(_screen(options.screen))
    if not figures:
        raise FigureError(
            f"There is no figure at this address: the page {pane.screen.page} shows text or links "
            "there, or waits for something that is not entered."
        )
    name = options.picture or next(iter(figures))
    if name not in figures:
        raise FigureError(f"There is no picture {name} here: there is {', '.join(figures)}.")
    try:
        figure = figure_of(pane, figures[name], theme_of(options.theme), options.width, name)
    except ValueError as error:  # what a picture says that cannot show what is asked
        raise FigureError(str(error)) from error
    if kind == "zip":
        content = crate(figure, options.width, numbers_of(pane, figures[name]))
    else:
        content = figure.file(kind, options.width)
    if options.data:
        made = _numbers(pane, figure, options.width, of_data)
        write_whole(Path(options.data), made)
    write_whole(Path(options.out), content)
    print(figure.record.caption)


def _screen(address: str) -> Screen:
    """What a person typed may have a slip in it: a figure of something else would be drawn."""
    said = parts_of(address)
    if wrong := unread(said):
        raise FigureError(f"The address says {listed(wrong, 3)}, which cannot be read.")
    return parse(said)


def _numbers(pane: "Pane", figure: Figure, width: float | None, kind: str) -> bytes:
    """A table of what is drawn, or all that was recorded."""
    if kind == "npz":
        return recording_npz(pane.recording)
    return table(figure.sheet(width or figure.width), kind)


def link_of(path: str) -> str:
    """The link, relative to the app, that opens a figure or a story on disk. Raises Refusal.

    What a story names and is not here is said on stderr.
    """
    if Path(path).suffix.lower() != ".md":
        return read_figure(path).link
    from viz.state.opened import at_start, shipped_names
    from viz.talks.stories import doubts, offer

    story = offer(Path(path))
    for said in doubts(story, [*map(str, at_start()[0]), *shipped_names()]):
        print(f"warning: {said}", file=sys.stderr)
    return link(story.told(1))


def read_figure(path: str) -> Record:
    """The record of a figure on disk. Raises Refusal in a sentence."""
    try:
        content = read_regular(Path(path), LARGEST)
    except Misfit as error:
        raise FigureError(f"{path} {error}.") from error
    return read_record(content, Path(path).name)


def _endings(*kinds: str) -> str:
    *some, last = (f".{kind}" for kind in kinds)
    return f"{', '.join(some)} or {last}"


def page_of(screen: Screen) -> tuple["Pane", Mapping[str, "Shown"]]:
    """What an address shows, and its figures. Raises Refusal in a sentence."""
    from viz.run.request import answer
    from viz.state.asked import first_example, request_of
    from viz.state.page import Page, Pane

    pages: dict[str, Page] = discover("viz.pages", "PAGE")
    if screen.page not in pages:
        raise FigureError(f"There is no page {screen.page}: there is {', '.join(pages)}.")
    page, name = pages[screen.page], _checkpoint(screen.checkpoint)
    text = first_example(name) if screen.text is None else screen.text
    edits = screen.edits if page.edits in ("shown", "made") else ()
    asked = request_of(name, text, replace(screen, edits=edits))
    try:
        shown = answer(asked)
    except Refusal:
        if page.shows == "sentence":
            raise
        shown = None
    pane = page.shown(Pane(screen, asked, shown))
    return pane, page.figures(pane)


def _checkpoint(said: str | None) -> str:
    """The name of a shipped one, or the path of another. Raises CheckpointError."""
    from viz.state.opened import shipped_names
    from viz.state.opening import find

    names = shipped_names()
    name = said or next(iter(names), "")
    if name in names:
        return name
    if not Path(name).is_absolute():
        known = ", ".join(names)
        raise CheckpointError(f"There is no checkpoint {name} here: there is {known}.")
    return str(find(name, may_fetch=False)[0])
