"""What is on the screen as a figure for a paper: drawn from the same data, carrying its state."""

from dataclasses import replace
from typing import Any

from transformer.visible import visible
from viz.export import recording_npz
from viz.paper.figure import COLUMN, PAGE, Figure, of_component, of_plotly, of_table
from viz.paper.record import FigureError, Record, versions
from viz.run.payloads import payload_of
from viz.run.request import Request
from viz.screen import Screen, query
from viz.state.opened import title
from viz.state.page import Pane, Shown
from viz.theme import LIGHT, Theme
from viz.ui.figure_caption import caption
from viz.ui.made_with import DIGITS, known_fingerprint


def figure_of(
    pane: Pane,
    shown: Shown,
    theme: Theme = LIGHT,
    width: float | None = None,
    name: str = "",
) -> Figure:
    """A picture of a page as a figure. name: of the picture among those of its page.

    Raises FigureError and what the picture raises.
    """
    figure = _figure_of(_pane_of(pane, shown), shown, theme, width)
    picture = name if shown.is_in_address else None
    return replace(figure, picture=picture, theme=theme.name)


def _figure_of(pane: Pane, shown: Shown, theme: Theme, width: float | None) -> Figure:
    picture = shown.picture
    if picture is not None:
        answer = pane.answer
        says = picture.says(*answer.made, **shown.state)
        record = _record(pane, shown, picture.title(pane.recording), says)
        data = picture.data(payload_of(answer, picture), theme, **shown.state)
        return of_component(picture.component.name, data, record, width)
    record = _record(pane, shown, shown.title, shown.says)
    if shown.figure is not None:
        return of_plotly(shown.figure(theme), record, width or COLUMN)
    if shown.html_table is not None:
        return of_table(shown.html_table(theme), theme, record, width or PAGE)
    if shown.sent is not None:
        component, data_of = shown.sent
        return of_component(component, data_of(theme), record, width)
    raise FigureError(f"There is no figure of {shown.title}.")


def _pane_of(pane: Pane, shown: Shown) -> Pane:
    """Of what a figure tells: of a checkpoint's files, no sentence is a part."""
    pane = shown.pane or pane
    return pane if shown.is_of_text else replace(pane, shown=None)


def numbers_of(pane: Pane, shown: Shown) -> dict[str, bytes]:
    """By the names of files, what was recorded: more than a figure shows."""
    pane = _pane_of(pane, shown)
    if pane.shown is None or not pane.recording.attentions:
        return {}
    return {"recording.npz": recording_npz(pane.recording)}


def _record(pane: Pane, shown: Shown, name: str, says: str) -> Record:
    request = pane.asked if pane.shown is None else pane.answer.request
    sha256 = known_fingerprint(request.checkpoint)
    screen = _whole_screen(pane, request, sha256)
    decoding = None if pane.shown is None else pane.answer.decoding
    called = title(request.checkpoint)
    return Record(
        page=screen.page,
        query=query(screen),
        checkpoint=called,
        sha256=sha256,
        text=request.text,
        written=decoding.text if decoding else "",
        title=visible(f"{called} · {name}" if shown.is_of_checkpoint else name),
        caption=visible(caption(pane, name, says, sha256, shown.picture, shown.is_of_checkpoint)),
        versions=versions(),
    )


def _whole_screen(pane: Pane, request: Request, sha256: str) -> Screen:
    """What is left to the checkpoint or the page is said, so that it holds elsewhere, too."""
    if pane.suffix and pane.beside is not None:  # the second of two: the page is the first one's
        first, chosen = pane.beside, pane.selection
        asked = first.answer.request
        screen = _whole_screen(first, asked, known_fingerprint(asked.checkpoint))
        own: dict[str, Any] = {"kind": chosen.kind, "layer": chosen.layer, "head": chosen.head}
        return replace(screen, **{f"{name}{pane.suffix}": it for name, it in own.items()})
    begins = sha256[:DIGITS] or None
    screen = replace(pane.screen, checkpoint=request.checkpoint, made_with=begins)
    if pane.shown is None:
        return screen
    screen = replace(screen, text=request.text)
    if not pane.recording.attentions:
        return screen
    chosen = pane.selection
    return replace(screen, kind=chosen.kind, layer=chosen.layer, head=chosen.head)
