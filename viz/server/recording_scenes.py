"""What the model makes of each scene of a story: in the line with everything else that is asked."""

from contextlib import suppress
from dataclasses import replace
from functools import partial
from logging import getLogger

from transformer.analysis.selection import Selection
from transformer.checkpoint import checkpoints_folder
from transformer.extras import missing
from transformer.refusal import Refusal
from viz.exhibits.exhibit import Exhibit, PlotlyFigure
from viz.notebook.printed import WIDTH, Chart, sheet_of
from viz.notebook.scenes import Made
from viz.notebook.story_page import story_page
from viz.paper.figure import NARROWEST, WIDEST
from viz.paper.sheet import Sheet
from viz.run.kept import KEPT
from viz.run.logs import failure
from viz.run.request import Answer, answer, version_of
from viz.run.settings import is_public
from viz.server.typeface import typeface
from viz.state.asked import first_example, request_of
from viz.state.focus import pinned_cell
from viz.state.opened import shipped_names
from viz.state.page import PAGES, Pane, chosen_head
from viz.stories.asking import asked_of, payload_of
from viz.stories.shipped import shipped_stories
from viz.stories.story import Scene, Story
from viz.talks.stories import story_of
from viz.theme import Theme
from viz.ui.experiment import compared
from viz.ui.printing import figure_of, says_of

_LOG = getLogger(__name__)


def story_file(story: Story) -> bytes:
    """The story as one HTML file: scenes that cannot be made are words only."""
    return story_page(story, [made(scene) for scene in story.scenes], typeface()).encode()


def recorded(name: str) -> bytes | None:
    """The same of the story of this name, for its talk; in public mode of a shipped one only."""
    story = shipped_stories().get(name) if is_public() else story_of(name)
    if story is None:
        return None
    kept = ("recorded", story, versions_of(story))
    return KEPT.get(kept, lambda: story_file(story), len)


def versions_of(story: Story) -> tuple[int, ...]:
    """Of the weights on disk that the scenes are made by."""
    names = (each.screen.checkpoint or shipped_names()[0] for each in story.scenes)
    return tuple(version_of(checkpoints_folder() / name) for name in names)


def made(scene: Scene) -> Made | None:
    """What the model makes of a scene; None where it cannot, which takes no other scene along."""
    screen = scene.screen
    if screen.page == "decode":  # its head is the decoder's, whatever kind is chosen
        screen = replace(screen, kind="decoder_self")
    try:
        name = screen.checkpoint or shipped_names()[0]
        text = first_example(name) if screen.text is None else screen.text
        request = request_of(name, text, screen)
        found = answer(request)
        pane = Pane(replace(screen, text=text), request, found)
        first, reading = pane.selection, pane.reading
        second = _second(pane)
        if screen.picture == "inside":
            pane = replace(pane, screen=replace(pane.screen, cell=pinned_cell(pane)))
        page = PAGES.get(screen.page)
        if page is not None and page.shows != "sentence":
            pane = replace(pane, screen=replace(pane.screen, text=None))
        of = (pane.screen, found.checkpoint, *found.made, reading, first, second)
        return Made(*of, charts=_charts(pane), outputs=_outputs(found), asked=_asked(scene, found))
    except Refusal:
        return None
    except Exception as error:
        _LOG.error("A scene could not be recorded: %s", failure(error))
        return None


def _second(pane: Pane) -> Selection:
    """The head of B, on Compare."""
    if pane.screen.page == "compare" and "compare" in PAGES:
        with suppress(Refusal):
            b = PAGES["compare"].exhibits(pane)["b"].pane
            if b is not None:
                return b.selection
    return chosen_head(pane.screen, pane.recording, pane.selection, "_b")


def _charts(pane: Pane) -> tuple[Chart, ...]:
    """What the page of a scene shows that is no picture of a head, as a wall shows it."""
    page = PAGES.get(pane.screen.page)
    if page is None or page.name in ("explore", "experiment"):  # a sweep takes long
        return ()
    if missing("paper"):
        return ()
    pane = page.shown(pane)
    try:
        found = [each for each in page.exhibits(pane).values() if each.can_be_made_again]
    except Refusal:
        return ()
    return tuple(
        Chart(partial(_sheet, pane, each), says_of(pane, each)) for each in found[: _most(pane)]
    )


def _most(pane: Pane) -> int:
    """Beside each other, so that they can be read."""
    if pane.screen.page == "positions":
        return 2 if pane.screen.view == "lab" else 1
    return 2 if pane.screen.page == "compare" else 3


def _sheet(pane: Pane, shown: Exhibit, theme: Theme, share: float) -> Sheet:
    content = shown.small or shown.content
    if isinstance(content, PlotlyFigure):
        return sheet_of(content.make(theme), share)
    inches = min(WIDEST, max(NARROWEST, WIDTH * share))
    return figure_of(pane, shown, theme, inches).sheet(inches)


def _outputs(found: Answer) -> str:
    """What became of the output where the model is changed."""
    if not found.request.edits or found.decoding is None:
        return ""
    before = answer(replace(found.request, edits=()))
    return compared(before, found, "var(--accent)", "var(--dim)")


def _asked(scene: Scene, found: Answer) -> tuple[bytes, bytes] | None:
    """Its question before and after the answer; None where nothing is asked."""
    text = found.request.text
    seen = asked_of(scene, found.checkpoint, found.recording, found.request.method)
    if seen is None:
        return None
    return payload_of(scene, seen, text, False), payload_of(scene, seen, text, True)
