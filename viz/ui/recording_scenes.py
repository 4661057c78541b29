"""What the model makes of each scene of a story: in the line with everything else that is asked."""

from dataclasses import replace
from logging import getLogger

from transformer.checkpoint import checkpoints_folder
from transformer.refusal import Refusal
from viz.notebook.printed import Chart
from viz.notebook.scenes import Made
from viz.notebook.story_page import story_page
from viz.stories.asking import asked_of, payload_of
from viz.stories.shipped import shipped_stories
from viz.stories.story import Scene, Story
from viz.ui.experiment import compared
from viz.ui.header import first_example, request_of
from viz.ui.kept import KEPT
from viz.ui.logs import failure
from viz.ui.opened import shipped_names
from viz.ui.page import Pane, chosen_head
from viz.ui.panel import view_figures
from viz.ui.request import Answer, answer, version_of
from viz.ui.settings import is_public
from viz.ui.stories import story_of
from viz.ui.typeface import typeface

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
        second = chosen_head(screen, found.recording, first, "_b")
        of = (pane.screen, found.checkpoint, *found.made, reading, first, second)
        return Made(*of, chart=_chart(pane), outputs=_outputs(found), asked=_asked(scene, found))
    except Refusal:
        return None
    except Exception as error:
        _LOG.error("A scene could not be recorded: %s", failure(error))
        return None


def _chart(pane: Pane) -> Chart | None:
    """The view of positions that the Screen names; None where another page is open."""
    if pane.screen.page != "positions":
        return None
    shown = next(iter(view_figures("positions", pane).values()), None)
    if shown is None or shown.figure is None:
        return None
    return Chart(shown.figure, shown.says)


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
