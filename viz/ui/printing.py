"""Figures for a paper of what is on the screen: of the same data, carrying its state."""

from dataclasses import replace
from functools import partial
from typing import Any

from transformer.visible import visible
from viz.components.kit.picture import OfMaps
from viz.exhibits.chart import Chart
from viz.exhibits.chart_rows import rows_of
from viz.exhibits.exhibit import Exhibit, PictureAt
from viz.exhibits.table_rows import cells_of
from viz.exhibits.words import Words
from viz.export import recording_npz
from viz.painters.chart_sheet import sheet
from viz.painters.table_sheet import table_sheet
from viz.painters.words_sheet import words_sheet
from viz.paper.figure import COLUMN, PAGE, Figure, of_component
from viz.paper.record import Record, versions
from viz.run.payloads import payload_of
from viz.run.request import Request
from viz.screen import Screen, put, query
from viz.state.checkpoints import title
from viz.state.fingerprints import DIGITS, known_fingerprint
from viz.state.page import Pane
from viz.theme import LIGHT, Theme
from viz.ui.figure_caption import caption


def figure_of(
    pane: Pane,
    exhibit: Exhibit,
    theme: Theme = LIGHT,
    width: float | None = None,
    name: str = "",
) -> Figure:
    """A picture of a page as a figure. name: of the picture among those of its page.

    Raises FigureError and what the picture raises.
    """
    pane, content = _pane_of(pane, exhibit), exhibit.content
    record = _record(pane, exhibit, title_of(pane, exhibit), says_of(pane, exhibit))
    if isinstance(content, PictureAt):
        component = content.picture.component.name
        figure = of_component(component, data_of(pane, content, theme), record, width)
        if isinstance(content.picture, OfMaps):
            figure = replace(figure, maps=partial(content.picture.maps, pane.recording))
    elif isinstance(content, Chart):
        draw, numbers = partial(sheet, content, theme), partial(rows_of, content)
        figure = Figure(draw, record.with_law(content.law), width or COLUMN, rows=numbers)
    elif isinstance(content, Words):
        figure = Figure(partial(words_sheet, content, theme), record, width or COLUMN)
    else:
        draw, numbers = partial(table_sheet, content, theme), partial(cells_of, content)
        figure = Figure(draw, record, width or PAGE, rows=numbers)
    picture = name if exhibit.can_be_made_again else None
    return replace(figure, picture=picture, theme=theme.name, numbers=partial(_numbers, pane))


def data_of(pane: Pane, content: PictureAt, theme: Theme) -> bytes:
    """The bytes that a picture's component is sent. Raises what the picture raises."""
    packed = content.payload() if content.payload else payload_of(pane.answer, content.picture)
    data: bytes = content.picture.data(packed, theme, **content.state)
    return data


def title_of(pane: Pane, exhibit: Exhibit) -> str:
    """Return the title of its figure: a picture of an answer names its head as the model counts."""
    content = exhibit.content
    if isinstance(content, PictureAt) and content.payload is None:
        title: str = content.picture.title((exhibit.pane or pane).recording)
        return title
    return exhibit.title


def says_of(pane: Pane, exhibit: Exhibit) -> str:
    """The sentence for those who do not see it."""
    content = exhibit.content
    if isinstance(content, PictureAt) and content.payload is None:
        says: str = content.picture.says(*(exhibit.pane or pane).answer.parts, **content.state)
        return says
    return content.plain if isinstance(content, Words) and not exhibit.says else exhibit.says


def _pane_of(pane: Pane, exhibit: Exhibit) -> Pane:
    """Return the pane of a figure: of a checkpoint's files, no sentence is a part."""
    pane = exhibit.pane or pane
    return pane if exhibit.about == "text" else replace(pane, result=None)


def _numbers(pane: Pane) -> dict[str, bytes]:
    if pane.result is None or not pane.recording.attentions:
        return {}
    return {"recording.npz": recording_npz(pane.recording)}


def _record(pane: Pane, exhibit: Exhibit, name: str, says: str) -> Record:
    request = pane.request if pane.result is None else pane.answer.request
    sha256 = known_fingerprint(request.checkpoint)
    screen = _whole_screen(pane, request, sha256)
    decoding = None if pane.result is None else pane.answer.decoding
    called = title(request.checkpoint)
    content = exhibit.content
    picture = content.picture if isinstance(content, PictureAt) else None
    return Record(
        page=screen.page,
        query=query(screen),
        checkpoint=called,
        sha256=sha256,
        text=request.text,
        written=decoding.text if decoding else "",
        title=visible(name if exhibit.about == "app" else f"{called} · {name}"),
        caption=visible(caption(pane, name, says, sha256, picture, exhibit.about != "app")),
        versions=versions(),
    )


def _whole_screen(pane: Pane, request: Request, sha256: str) -> Screen:
    """Name what is left to the checkpoint or the page, so that the address holds elsewhere, too."""
    if pane.suffix and pane.beside is not None:  # the second of two: the page is the first one's
        first, chosen = pane.beside, pane.selection
        request = first.answer.request
        screen = _whole_screen(first, request, known_fingerprint(request.checkpoint))
        own: dict[str, Any] = {"kind": chosen.kind, "layer": chosen.layer, "head": chosen.head}
        return put(screen, **{f"{name}{pane.suffix}": it for name, it in own.items()})
    begins = sha256[:DIGITS] or None
    screen = replace(pane.screen, checkpoint=request.checkpoint, made_with=begins)
    if pane.result is None:
        return screen
    screen = replace(screen, text=request.text)
    if not pane.recording.attentions:
        return screen
    chosen, special = pane.selection, pane.reading.special
    screen = replace(screen, special=None if special == "shown" else special)
    return replace(screen, kind=chosen.kind, layer=chosen.layer, head=chosen.head)
