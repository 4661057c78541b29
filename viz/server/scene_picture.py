"""A scene in small: the first picture of its page as SVG, and its address."""

import asyncio
from collections.abc import Callable, Iterator, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, replace
from logging import getLogger
from zlib import crc32

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from transformer.checkpoint import shipped_path
from transformer.extras import missing
from transformer.fingerprint import version_of
from transformer.recording import Recording
from transformer.refusal import Refusal
from viz.components.kit.picture import NothingLeft
from viz.labels import bare_label
from viz.paper.sheet import Box, Sheet, Words, width_of
from viz.paper.svg import svg
from viz.run.line import Runner
from viz.run.operating import failure
from viz.run.settings import base_path, is_public
from viz.run.work import NotAtHand, Study, finish, only_at_hand
from viz.screen import FIRST_PAGE, Screen
from viz.server.recording_scenes import exhibits_of, pane_of
from viz.state.checkpoints import shipped_names
from viz.state.fingerprints import meant
from viz.state.page import Pane
from viz.talks.story import THUMBNAIL_LINKS_PATH, key_of
from viz.talks.story_drafts import DRAFTS
from viz.theme import Theme
from viz.theme import theme as theme_of
from viz.ui.saving import figure_of

# A scene in small: the first picture of its page as SVG, as on paper.

_LOG = getLogger(__name__)
INCHES = 3.3
"""The width that it is drawn for: wide enough that a table has its columns."""
SHORT = 3
"""Letters of a word whose bar says nothing by its length: its colour does."""
TRACK = 6.0
"""Points: how high the lines below a head are that say which one it is."""
HIGH = 0.5
"""The height of the bar that stands for words, of that of their letters."""


@dataclass(frozen=True)
class ScenePicture(Study[bytes]):
    """The first picture of a scene. version: of the weights that it is made by."""

    screen: Screen
    theme: str
    version: int

    def run(self, before: bytes | None, runner: Runner) -> Iterator[bytes]:
        with only_at_hand() if is_public() else nullcontext():
            made = scene_picture(self.screen, self.theme)
        yield made


def thumbnail(code: str, key: str, theme: str) -> bytes | None:
    """The picture of a scene of a story that is put together, by its key.

    None where there is no such scene or no picture; for strangers, where anything of it is not at
    hand: nobody is charged for a model that runs, and a page may take several answers.
    """
    story = DRAFTS.read(code)
    screens = [scene.screen for scene in story.scenes] if story is not None else []
    screen = next((each for each in screens if key_of(each) == key), None)
    if screen is None or missing("paper"):
        return None
    screen = meant(screen)
    version = version_of(shipped_path(screen.checkpoint or shipped_names()[0]))
    return drawn(ScenePicture(screen, theme, version), "A scene in small")


def drawn(study: Study[bytes], what: str) -> bytes | None:
    """The file of a study that draws; None where it draws nothing, or cannot. what: for the log."""
    try:
        return finish(study) or None
    except (Refusal, NothingLeft, NotAtHand):
        return None
    except Exception as error:
        _LOG.error("%s could not be drawn: %s", what, failure(error))
        return None


def scene_picture(screen: Screen, theme: str) -> bytes:
    """Draw it; empty where the page shows nothing that is made at once. Raises Refusal."""
    page, _, pane = pane_of(screen)
    exhibits = exhibits_of(page, pane) if page is not None else ()
    if not exhibits:
        return b""
    first, look = exhibits[0], theme_of(theme)
    sheet = figure_of(pane, first, look).sheet(INCHES)
    colours = {word: _colour(word, look) for word in _short_words(pane.recording)}
    bars = [_bar(mark, colours) if isinstance(mark, Words) else mark for mark in sheet.marks]
    if page is None or page.name != FIRST_PAGE:
        return svg(replace(sheet, marks=tuple(bars)), first.title, "", "")
    tracks = _tracks(pane, sheet, look)
    drawn = replace(sheet, height=sheet.height + 2 * TRACK, marks=(*bars, *tracks))
    return svg(drawn, first.title, "", "")


def _short_words(recording: Recording) -> set[str]:
    """Return those whose bars would be as long as any other's, such as digits."""
    tokens = [
        token
        for attention in recording.attentions.values()
        for token in (*attention.queries, *attention.keys)
    ]
    words = {bare_label(token) for token in tokens}
    return {word for word in words if 0 < len(word) <= SHORT}


def _colour(word: str, theme: Theme) -> str:
    return theme.head_colours[crc32(word.encode(errors="replace")) % len(theme.head_colours)]


def _bar(words: Words, colours: Mapping[str, str]) -> Box:
    """Nobody could read them in small, and their typeface would be most of the file."""
    length, high = width_of(words.text, words.size, words.is_bold), words.size * HIGH
    if words.text.strip() in colours:  # by which it is told apart: as much of it as there is room
        length, high = max(length, words.size), words.size
    before = {"start": 0.0, "middle": 0.5, "end": 1.0}[words.anchor] * length
    colour = colours.get(words.text.strip(), words.colour)
    if words.is_upward:
        return Box(words.x - high, words.y + before - length, high, length, colour, None)
    return Box(words.x - before, words.y - high, length, high, colour, None)


def _tracks(pane: Pane, sheet: Sheet, theme: Theme) -> list[Box]:
    """Say kind of attention, layer and head: a track for each, and the place on it."""
    selection, kinds = pane.selection, list(pane.recording.attentions)
    attention = selection.attention(pane.recording)
    places = (
        (kinds.index(selection.kind), len(kinds)),
        (selection.layer, attention.n_layers),
        (selection.head, attention.n_heads),
    )
    wide = sheet.width / len(places) - TRACK
    marks = []
    for i, (at, n) in enumerate(places):
        x, y = TRACK / 2 + i * (wide + TRACK), sheet.height + TRACK / 2
        marks.append(Box(x, y, wide, TRACK, theme.grid, None))
        marks.append(Box(x + wide * at / n, y, wide / n, TRACK, theme.accent, None))
    return marks


# The address of scenes in small: pictures by which those of a story can be told apart.
#
# A browser asks for those that are in sight, and keeps them: the address is of what a scene
# shows, so that another one shows something else. `viz/server/scene_picture.py` draws them, one
# at a time.

NONE = 204
"""There is no picture of that."""
KEPT = {"cache-control": "private, max-age=86400"}
Draw = Callable[[str, str, str], bytes | None]
"""A story's code, a scene's key and the name of a theme -> SVG; None where there is none."""


def thumbnails_route(draw: Draw) -> Route:
    """Return the route where a browser asks for the picture of a scene."""
    alone = asyncio.Lock()  # those that wait hold no thread: files are read by the same few

    async def answer(request: Request) -> Response:
        query = (request.query_params.get(name, "") for name in ("draft", "of", "theme"))
        async with alone:
            content = await asyncio.to_thread(draw, *query)
        if content is None:
            return Response(status_code=NONE)
        return Response(content, media_type="image/svg+xml", headers=KEPT)

    base = base_path()
    return Route(
        "/".join(["", *filter(None, (base, THUMBNAIL_LINKS_PATH))]), answer, methods=["GET"]
    )
