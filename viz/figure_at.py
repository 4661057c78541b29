"""The page and the figures that an address of the app shows, and a figure as a file."""

from argparse import Namespace
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from transformer.checkpoint import CheckpointError
from transformer.discover import discover
from transformer.files.foreign_text import some_of, write_whole
from transformer.recording.data import place_of
from transformer.refusal import Refusal, quoted
from viz.exhibits.exhibit import Exhibit
from viz.export import recording_npz
from viz.paper.crate import crate
from viz.paper.figure import KINDS, Figure
from viz.paper.figure import TABLE_KINDS as TABLES
from viz.paper.record import FigureError, parts_of
from viz.run.request import answer
from viz.screen import Screen, parse, unread
from viz.state.checkpoints import find, shipped_names
from viz.state.fingerprints import meant
from viz.state.page import Page, Pane
from viz.state.requests import first_example, request_on
from viz.theme import theme as theme_of
from viz.ui.saving import figure_of

LONGEST = 60.0
"""Seconds that the weights of an address are looked for: nobody looks at a page meanwhile."""


def save_figure(options: Namespace) -> tuple[str, str]:
    """Write what `python -m viz figure` asks for. Raises Refusal.

    Returns the caption, and which of its letters no typeface here has.
    """
    kind = Path(options.out).suffix.removeprefix(".").lower()
    if kind not in (*KINDS, "zip"):
        raise FigureError(f"{options.out} must end in {_endings(*KINDS, 'zip')}.")
    of_data = Path(options.data or ".csv").suffix.removeprefix(".").lower()
    if options.data and of_data not in (*TABLES, "npz"):
        raise FigureError(f"{options.data} must end in {_endings(*TABLES, 'npz')}.")
    screen = _screen(options.screen)
    pane, figures = page_of(screen)
    for each in (pane, pane.second):  # two that are locked show the head of the first
        if each is not None and each.result is not None and not each.is_locked:
            _check_place(each)
    if not figures:
        raise FigureError(
            f"There is no figure at this address: the page {pane.screen.page} shows text or links "
            "there, or waits for something that is not entered."
        )
    name = options.picture or next(iter(figures))
    if name not in figures:
        raise FigureError(f"There is no picture {name} here: there is {', '.join(figures)}.")
    try:
        how = (theme_of(options.theme), options.width, name, options.scale)
        figure = figure_of(pane, figures[name], *how)
    except ValueError as error:  # what a picture says that cannot show what is asked
        raise FigureError(str(error)) from error
    width, figure = options.width, replace(figure, is_slide=options.slide, font=options.font)
    content = crate(figure, width) if kind == "zip" else figure.file(kind, width)
    if options.data:
        made = _numbers(pane, figure, options.width, of_data)
        write_whole(Path(options.data), made)
    write_whole(Path(options.out), content)
    return figure.record.caption, figure.lacks(width)


def _screen(address: str) -> Screen:
    """Read an address that a person typed; a slip in it would draw a figure of something else."""
    parts = parts_of(address)
    if wrong := unread(parts):
        raise FigureError(f"The address says {some_of(wrong, 3)}, which cannot be read.")
    return parse(parts)


def _numbers(pane: Pane, figure: Figure, width: float | None, kind: str) -> bytes:
    """A table of what is drawn, or all that was recorded."""
    if kind == "npz":
        return recording_npz(pane.recording)
    return figure.table(kind, width)


def _endings(*kinds: str) -> str:
    *some, last = (f".{kind}" for kind in kinds)
    return f"{', '.join(some)} or {last}"


def page_of(screen: Screen) -> tuple[Pane, Mapping[str, Exhibit]]:
    """Return the pane of an address, and its figures. Raises Refusal in a sentence."""
    screen = meant(screen, LONGEST)
    page, name = _page(screen.page), _checkpoint(screen.checkpoint)
    text = first_example(name) if screen.text is None else screen.text
    request = request_on(page, name, text, screen)
    try:
        result = answer(request)
    except Refusal:
        if page.shows == "sentence":
            raise
        result = None
    pane = page.completed(page.pane(Pane(screen, request, result)))
    return pane, page.finished(pane)


def _check_place(pane: Pane) -> None:
    """Refuse a kind, layer or head that is not there: a screen would show another one instead."""
    attentions, kind = pane.recording.attentions, pane.chosen("kind") or pane.selection.kind
    if kind not in attentions:
        raise FigureError(f"There is no {quoted(kind)} here; there is {', '.join(attentions)}.")
    layer, head = pane.chosen("layer"), pane.chosen("head")
    if layer is not None:
        place_of("layer", layer, attentions[kind].n_layers, kind)
    if head is not None:
        place_of("head", head, attentions[kind].n_heads, kind)


def _page(name: str) -> Page:
    """The page of this name, read alone. Raises FigureError."""
    pages: dict[str, Page] = discover("viz.pages", "PAGE", only=name)
    if name not in pages:
        others = ", ".join(discover("viz.pages", "PAGE"))
        raise FigureError(f"There is no page {name}: there is {others}.")
    return pages[name]


def _checkpoint(text: str | None) -> str:
    """The name of a shipped one, or the path of another. Raises CheckpointError."""
    names = shipped_names()
    name = text or next(iter(names), "")
    if name in names:
        return name
    if not Path(name).is_absolute():
        known_names = ", ".join(names)
        raise CheckpointError(f"There is no checkpoint {name} here: there is {known_names}.")
    return str(find(name, may_fetch=False)[0])
