"""The model's answers to the scenes of a story: in the line with everything else that is asked."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from logging import getLogger

from transformer.checkpoint import shipped_path
from transformer.extras import missing
from transformer.fingerprint import version_of
from transformer.refusal import Refusal
from viz.components.kit.picture import NothingLeft
from viz.exhibits.chart import Chart
from viz.exhibits.exhibit import Exhibit, PictureAt
from viz.live.alive.request import AliveError, EngineRequest
from viz.notebook.saved import (
    CHART_IMAGE_WIDTH,
    ChartImage,
    SavedPicture,
    SavedScene,
    question,
    sheet_of,
)
from viz.notebook.story_page import story_page
from viz.painters.words_html import words_html
from viz.paper.figure import NARROWEST, WIDEST
from viz.paper.sheet import Sheet
from viz.run.line import Runner
from viz.run.operating import failure
from viz.run.request import Answer, Request, answer
from viz.run.settings import is_public
from viz.run.work import Study, finish
from viz.screen import Screen
from viz.server.typeface import typeface
from viz.state.checkpoints import shipped_names
from viz.state.fingerprints import meant
from viz.state.page import PAGES, Page, Pane
from viz.state.requests import first_example, request_of, request_on
from viz.stories.reading import asked_of, payload_of, shipped_stories
from viz.stories.story import Scene, Story
from viz.talks.stories import story_of
from viz.theme import Theme
from viz.ui.branches import correction
from viz.ui.changed_output import changed_output
from viz.ui.saving import figure_of, saved_picture, says_of, typed_request

_LOG = getLogger(__name__)
MOST = 3
"""Charts beside each other, so that they can be read."""


@dataclass(frozen=True)
class SavedStory(Study[bytes]):
    """A story as one HTML file. versions: of the weights that its scenes are made by."""

    story: Story
    versions: tuple[int, ...]

    def run(self, before: bytes | None, runner: Runner) -> Iterator[bytes]:
        yield story_file(self.story)


def story_file(story: Story) -> bytes:
    """The story as one HTML file: scenes that cannot be made are words only."""
    return story_page(story, [saved_scene(scene) for scene in story.scenes], typeface()).encode()


def recorded(name: str) -> bytes | None:
    """The same of the story of this name, for its talk; in public mode of a shipped one only."""
    story = shipped_stories().get(name) if is_public() else story_of(name)
    if story is None:
        return None
    # It stands in for a server that is there for all else: weights would make it heavy.
    story = replace(story, scenes=tuple(replace(each, live=False) for each in story.scenes))
    return finish(SavedStory(story, versions_of(story)))


def versions_of(story: Story) -> tuple[int, ...]:
    """Return the versions of the weights on disk that make the scenes."""
    names = (meant(each.screen).checkpoint or shipped_names()[0] for each in story.scenes)
    return tuple(version_of(shipped_path(name)) for name in names)


def saved_scene(scene: Scene) -> SavedScene | None:
    """A scene as its page shows it; None where it cannot, which takes no other scene along."""
    try:
        page, edited, pane = pane_of(scene.screen)
        result = pane.answer
        exhibits = () if page is None else exhibits_of(page, pane)
        pictures = [saved_picture(pane, it) for it in exhibits if isinstance(it.content, PictureAt)]
        is_of_text = page is None or page.shows == "sentence"
        typed, why = _typed(pane, pictures) if scene.live else (None, "")
        return SavedScene(
            pane.screen.text if is_of_text else None,
            result.decoding.text if result.decoding is not None else "",
            (*_question(scene, result), *pictures) if pictures else (),
            () if pictures else tuple(chart_of(pane, each) for each in exhibits),
            _outputs(edited),
            typed,
            why,
        )
    except (Refusal, NothingLeft):
        return None
    except Exception as error:
        _LOG.error("A scene could not be recorded: %s", failure(error))
        return None


def _typed(pane: Pane, pictures: Sequence[SavedPicture]) -> tuple[EngineRequest | None, str]:
    """Return the request of a scene whose reader types; or None, and the reason in a clause."""
    try:
        if not pictures:
            raise AliveError("it has no picture that an engine draws")
        names = [each.component.name for each in pictures if each.payload_request]
        if len(names) > len(set(names)):
            raise AliveError("it has two pictures of one kind")
        return typed_request(pane), ""
    except AliveError as error:
        return None, error.why


def request_of_scene(screen: Screen) -> Request:
    """Return the Request of a scene, with what is changed in the model. Raises Refusal."""
    name = screen.checkpoint or shipped_names()[0]
    return request_of(name, first_example(name) if screen.text is None else screen.text, screen)


def pane_of(screen: Screen) -> tuple[Page | None, Answer, Pane]:
    """Return the page of a scene, the answer of the model as it is changed, and what the page
    gets to show. Raises Refusal.
    """
    screen = meant(screen)
    request = request_of_scene(screen)
    page, edited, text = PAGES.get(screen.page), answer(request), request.text
    of_page = request if page is None else request_on(page, request.checkpoint, text, screen)
    result = edited if page is None else answer(of_page)
    # A click that switches a head off or cuts an arrow has no server that hears it.
    return page, edited, Pane(replace(screen, text=text, tool="look"), result.request, result)


def exhibits_of(page: Page, pane: Pane) -> Sequence[Exhibit]:
    """Return the exhibits that everybody looks at, as far as they fit beside each other."""
    if page.takes_long:
        return ()
    try:
        exhibits = page.main(page.pane(pane)).values()
    except (Refusal, NothingLeft):
        return ()
    main = [each for each in exhibits if each.can_be_made_again]
    is_chart = [not isinstance(each.content, PictureAt) for each in main]
    return () if all(is_chart) and missing("paper") else main[:MOST]


def chart_of(pane: Pane, exhibit: Exhibit) -> ChartImage:
    """A chart, or what else is drawn as an image, as it is saved."""
    return ChartImage(partial(_sheet, pane, exhibit), says_of(pane, exhibit))


def _sheet(pane: Pane, exhibit: Exhibit, theme: Theme, share: float) -> Sheet:
    content = exhibit.small or exhibit.content
    if isinstance(content, Chart):
        return sheet_of(content, theme, share)
    inches = min(WIDEST, max(NARROWEST, CHART_IMAGE_WIDTH * share))
    return figure_of(pane, exhibit, theme, inches).sheet(inches)


def _outputs(changed: Answer) -> str:
    """Compare the output with that of the unchanged model, and with what it writes by itself."""
    request = changed.request
    words, edited = [], request.of_search  # a branch is judged: nothing is written of it
    if request.edits:
        words.append(changed_output(answer(replace(edited, edits=())), answer(edited)))
    if changed.decoding is not None and request != request.unconstrained:
        words.append(correction(answer(request.unconstrained), changed))
    return "".join(words_html(each) for each in words if each is not None)


def _question(scene: Scene, answer: Answer) -> list[SavedPicture]:
    """Its question before and after the answer; none where nothing is asked."""
    text = answer.request.text
    seen = asked_of(scene, answer.checkpoint, answer.recording, answer.request.method)
    if seen is None:
        return []
    return [question(payload_of(scene, seen, text, False), payload_of(scene, seen, text, True))]
