"""Figures for a paper of what is on the screen, and their captions."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from typing import Any

from transformer.analysis.reading import Selection
from transformer.fingerprint import DIGITS
from transformer.recording import Recording
from transformer.refusal import visible
from viz.components.cell_steps.cell_steps import CellSteps
from viz.components.head_map.head_map import HeadMap
from viz.components.kit.picture import OfMaps
from viz.exhibits.chart import Chart, evenly, rows_of
from viz.exhibits.exhibit import Exhibit, PictureAt, Words
from viz.exhibits.table import cells_of
from viz.export import recording_npz
from viz.live.alive.request import AliveError, EngineRequest, payload_request
from viz.map_words import uncapitalised
from viz.notebook import head_map
from viz.notebook.picture import typed_page
from viz.notebook.pictures import predicted
from viz.notebook.saved import SavedPicture
from viz.painters.chart_sheet import sheet
from viz.painters.table_sheet import table_sheet
from viz.painters.words_html import words_sheet
from viz.paper import caption as caption_parts
from viz.paper.caption import (
    changed,
    how_changed,
    how_read,
    of_checkpoint,
    reading,
    sentence,
    whole,
    writing,
)
from viz.paper.figure import COLUMN, PAGE, SCALES, Figure, of_component
from viz.paper.record import Record, versions
from viz.run.previews import payload_of
from viz.run.request import Request, about
from viz.screen import Screen, put, query
from viz.state.branching import decided_texts
from viz.state.checkpoints import title
from viz.state.fingerprints import known_fingerprint
from viz.state.page import Pane
from viz.state.requests import method_of
from viz.theme import DARK, LIGHT, Theme

# The caption of a figure: all that a reader needs who sees only the paper, in sentences.


def caption(
    pane: Pane,
    name: str,
    says: str,
    sha256: str,
    content: Any = None,
    is_of_checkpoint: bool = True,
) -> str:
    """Say what is drawn, of which checkpoint, of which text, and how it is read.

    says: the picture's own sentences. content: what is drawn; a picture says how it is read.
    """
    request = pane.request if pane.result is None else pane.answer.request
    of = of_checkpoint(title(request.checkpoint), known_as(request, sha256))
    first = name + of * is_of_checkpoint
    if pane.result is not None:
        first += f"{reading(request.text)}{_pair(request)}{_chat(request)}{_written(pane)}"
    parts = [] if says.startswith(first) else [f"{first}."]  # not twice the same
    if is_of_checkpoint and (description := about(request.checkpoint)):
        parts += description.about.notes
    if request.edits:
        parts.append(changed(edited(pane)))
    if says:
        parts.append(sentence(says))
    if pane.result is not None and isinstance(content, PictureAt):
        parts += how_read(pane.recording, content.picture, pane.selection.kind, content.state)
    return whole(parts)


def known_as(request: Request, sha256: str) -> str:
    """Name a checkpoint and the beginning of its files' hash, in brackets."""
    description = about(request.checkpoint)
    return caption_parts.known_as(description.about.title if description else "", sha256)


def _pair(request: Request) -> str:
    return f" and “{request.pair}” as a pair" if request.pair else ""


def _chat(request: Request) -> str:
    if request.chat is None:
        return ""
    template, system, turns = request.chat
    earlier = ", ".join(f"“{text}”" for text in (system, *(text for _, text in turns)) if text)
    return f" in its chat template “{template}”" + (f" after {earlier}" if earlier else "")


def _written(pane: Pane) -> str:
    request, decoding = pane.answer.request, pane.answer.decoding
    if request.follows is not None:
        written = pane.beside.answer.decoding if pane.beside is not None else None
        text = f" “{written.text}”" if written else " the output"
        return f" and made to write{text}, as {_whose(request, request.follows)} does"
    if decoding is None:
        return ""
    return writing(decoding.text, how_decoded(request) + _decided(pane))


def _decided(pane: Pane) -> str:
    """Say what a person decided of the output, in the words of the chips."""
    texts = decided_texts(pane.checkpoint, pane.answer.request)
    return "".join(f"; {uncapitalised(text)}" for text in texts)


def _whose(request: Request, follows: Request) -> str:
    is_same = request.checkpoint == follows.checkpoint
    return "the unchanged model" if is_same else title(follows.checkpoint)


def how_decoded(request: Request) -> str:
    """The method and its numbers, as its checkpoint has them where nobody chose."""
    return caption_parts.how_decoded(method_of(request), dict(request.options))


def edited(pane: Pane) -> str:
    """All that is changed in the model of a pane, in the words of its buttons."""
    if pane.result is None:
        return "; ".join(pane.request.edits)
    return how_changed(pane.answer.request.edits, pane.recording)


# Figures for a paper of what is on the screen: of the same data, carrying its state.


def figure_of(
    pane: Pane,
    exhibit: Exhibit,
    theme: Theme = LIGHT,
    width: float | None = None,
    name: str = "",
    scale: str = SCALES[0],
) -> Figure:
    """A picture of a page as a figure. name: of the picture among those of its page.

    scale: as `of_component` takes it. Raises FigureError and what the picture raises.
    """
    pane, content = _pane_of(pane, exhibit), exhibit.content
    record = _record(pane, exhibit, title_of(pane, exhibit), says_of(pane, exhibit))
    if isinstance(content, PictureAt):
        component = content.picture.component.name
        figure = of_component(component, data_of(pane, content, theme), record, width, scale)
        if isinstance(content.picture, OfMaps):
            figure = replace(figure, maps=partial(content.picture.maps, pane.recording))
    elif isinstance(content, Chart):
        content = evenly(content) if scale == "linear" else content
        draw, numbers = partial(sheet, content, theme), partial(rows_of, content)
        record = record.with_law(content.law)
        figure = Figure(draw, record, width or COLUMN, rows=numbers, scale=scale)
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
    return Record(
        page=screen.page,
        query=query(screen),
        checkpoint=called,
        sha256=sha256,
        text=request.text,
        written=decoding.text if decoding else "",
        title=visible(name if exhibit.about == "app" else f"{called} · {name}"),
        caption=visible(caption(pane, name, says, sha256, exhibit.content, exhibit.about != "app")),
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


EXACT = 256
"""A saved heat map of up to 256 x 256 cells holds every value."""
TYPED_PAGES = ("explore", "decode")
"""The pages whose exhibits an engine in a reader's browser draws of other texts."""


def typed_request(pane: Pane) -> EngineRequest:
    """Return how an engine in a reader's browser answers as this pane does. Raises AliveError."""
    request = pane.answer.request
    if pane.screen.page not in TYPED_PAGES:
        raise AliveError(f"the page without a server has no {pane.screen.page}")
    for what, value in (
        ("no second text", request.pair),
        ("no chat template", request.chat),
        ("no words that must be written", request.constraints.force),
        ("no words that may not be written", request.constraints.forbid),
        ("the text that the search chose, and no branch", request.branch),
        ("no output of another model", request.follows),
    ):
        if value:
            raise AliveError(f"the page without a server has {what}")
    method = request.method if pane.answer.decoding is not None else ""
    how = (method, dict(request.options), request.constraints.prefix)
    return EngineRequest(pane.checkpoint, request.text, *how, request.edits).checked()


def saved_picture(pane: Pane, exhibit: Exhibit) -> SavedPicture:
    """Return a picture as a page without a server holds it. Raises NothingLeft."""
    pane, content = exhibit.pane or pane, exhibit.content
    assert isinstance(content, PictureAt)
    picture, answers = content.picture, {}
    if isinstance(picture, HeadMap):
        picture = replace(picture, max_cells=EXACT)
    if isinstance(picture, CellSteps):
        cells = picture.in_row(pane.recording)
        answers = {("cell", each.cell): each.payload(pane.recording) for each in cells}
    payload = content.payload() if content.payload else picture.payload(*pane.answer.parts)
    data, of_any = (
        partial(picture.data, **state) for state in (content.still.state, content.still.over)
    )
    says = says_of(pane, exhibit)
    packs = None if content.payload else picture
    return SavedPicture(picture.component, data, payload, says, answers, packs, of_any)


def typed_page_of(pane: Pane, exhibits: Iterable[Exhibit]) -> Callable[[], bytes]:
    """Return what makes a page of these pictures whose reader types, as this pane is answered.

    Raises AliveError.
    """
    named: dict[str, Exhibit] = {}
    for exhibit in exhibits:
        content = exhibit.content
        if isinstance(content, PictureAt):
            payload_request(None if content.payload else content.picture)
            named[content.picture.component.name] = exhibit
    request, answer = typed_request(pane), pane.answer
    written = predicted(answer.recording) if answer.decoding is None else answer.decoding.text

    def page() -> bytes:
        saved = [saved_picture(pane, it) for it in named.values()]
        return typed_page("Headscope", saved, request, written, (LIGHT, DARK)).encode()

    return page


def head_page(recording: Recording, theme: Theme, selection: Selection) -> bytes:
    """The heat map of one head's weights as a page, as a notebook shows it."""
    place = (selection.kind, selection.layer, selection.head)
    return head_map(recording, *place, theme=theme.name).html.encode()
