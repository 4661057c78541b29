"""What is on the screen as a figure for a paper: drawn from the same data, carrying its state."""

from dataclasses import replace

from transformer.visible import visible
from viz.map_words import capitalised
from viz.paper.figure import Figure, of_component
from viz.paper.record import FigureError, Record, versions
from viz.screen import Screen, query
from viz.theme import LIGHT, Theme
from viz.ui.made_with import DIGITS, known_fingerprint
from viz.ui.opened import title
from viz.ui.page import Pane, Shown
from viz.ui.payloads import payload_of


def figure_of(pane: Pane, shown: Shown, theme: Theme = LIGHT, width: float | None = None) -> Figure:
    """A picture of a page as a figure. Raises FigureError and what the picture raises."""
    answer, picture = pane.answer, shown.picture
    if picture is None:
        raise FigureError(f"There is no figure of {shown.title}.")
    record = _record(pane, shown, picture.title(pane.recording), picture.says(*answer.made))
    data = picture.data(payload_of(answer, picture), theme, **shown.state)
    return of_component(picture.component.name, data, record, width)


def _record(pane: Pane, shown: Shown, name: str, says: str) -> Record:
    request = pane.answer.request
    sha256 = known_fingerprint(request.checkpoint)
    screen = _whole_screen(pane, sha256)
    written = pane.answer.decoding.text if pane.answer.decoding else ""
    called = title(request.checkpoint)
    return Record(
        page=screen.page,
        query=query(screen),
        checkpoint=called,
        sha256=sha256,
        text=request.text,
        written=written,
        title=visible(f"{called} · {name}"),
        caption=visible(_caption(pane, name, says, sha256)),
        versions=versions(),
    )


def _whole_screen(pane: Pane, sha256: str) -> Screen:
    """What is left to the checkpoint or the page is said, so that it holds elsewhere, too."""
    request, chosen = pane.answer.request, pane.selection if pane.recording.attentions else None
    screen = replace(
        pane.screen,
        checkpoint=request.checkpoint,
        text=request.text,
        made_with=sha256[:DIGITS] or None,
    )
    if chosen is None:
        return screen
    return replace(screen, kind=chosen.kind, layer=chosen.layer, head=chosen.head)


def _caption(pane: Pane, name: str, says: str, sha256: str) -> str:
    """Sentences for below the figure, in the words of the screen."""
    request, decoding = pane.answer.request, pane.answer.decoding
    about = pane.checkpoint.about.title
    hash = f", SHA-256 {sha256[:DIGITS]}" if sha256 else ""
    parts = [f"{name}, of {title(request.checkpoint)} ({about}{hash}), reading “{request.text}”"]
    if decoding is not None:
        parts[0] += f" and writing “{decoding.text}” ({request.method})"
    parts[0] += "."
    if request.edits:
        parts.append(f"Changed in the model: {', '.join(request.edits)}.")
    parts.append(capitalised(says).rstrip(".") + ".")
    return " ".join(parts)
