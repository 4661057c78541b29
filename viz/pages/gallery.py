"""Gallery: effects that are really there, each a sentence, a small picture and a link."""

from dataclasses import replace
from functools import partial

from transformer import Recording
from transformer.analysis.reading import Reading, read
from transformer.refusal import Refusal
from viz.app_packages import st
from viz.figures.scenes import Picture, cards, describe_thumbnail, draw_thumbnail, facts_there
from viz.labels import literal
from viz.run.cache import CACHE, bytes_of
from viz.run.request import Request, about, answer, make_request, open_checkpoint, recording_of_text
from viz.state.page import Page, Pane
from viz.state.requests import decided
from viz.state.state import current_theme
from viz.stories.reading import stories_of
from viz.stories.story import Scene, Story, reading_of
from viz.talks.stage import list_talks
from viz.theme import theme

WORDS = (
    "Found by searching the shipped models; the first ones are composed like Figures 3, 4 and "
    "5 of *Attention Is All You Need*. Numbers are for the sentence opened, unless they say "
    "that they are averages."
)


def draw(pane: Pane) -> None:
    """The cards of all scenes of the gallery's stories."""
    st.markdown(WORDS)
    list_talks()
    stories = stories_of("gallery")
    places = []
    for story in stories:
        st.subheader(literal(story.title), anchor=False)
        places.append(st.empty())
        # Words first: the models that the pictures are drawn from may have to be loaded.
        places[-1].html(cards(story, [None] * len(story.scenes)))
    for place, story in zip(places, stories, strict=True):
        place.html(cards(story, pictures(story, current_theme().name)))


def pictures(story: Story, theme_name: str) -> list[Picture | None]:
    """Draw each scene; None where the checkpoint is gone, damaged, or no longer reads the text, or
    writes less than the scene points at.
    """
    return [_picture(scene, theme_name) for scene in story.scenes]


def _picture(scene: Scene, theme_name: str) -> Picture | None:
    request = request_of(scene)
    try:
        key = "thumbnail", request, scene.heading, theme_name
        return CACHE.get(key, partial(_drawn, request, scene, theme_name), bytes_of)
    except Refusal:
        return None


def request_of(scene: Scene) -> Request:
    """Return the request of the link."""
    screen = scene.screen
    method = screen.decoding or "none"
    request = make_request(screen.checkpoint or "", screen.text or "", method)
    return request if method == "none" else decided(request, screen)


def _drawn(request: Request, scene: Scene, theme_name: str) -> Picture:
    reading = reading_of(scene, open_checkpoint(request).about)
    recording = _recording(request, scene, reading)
    scene = replace(scene, facts=facts_there(scene, recording, reading))
    if not scene.facts:
        raise Refusal("Nothing of this model stands where the scene points.")
    alt = describe_thumbnail(scene, recording, reading)
    return Picture(draw_thumbnail(scene, recording, reading, theme(theme_name)), alt)


def _recording(request: Request, scene: Scene, reading: Reading) -> Recording:
    """Record as the link would; of a prompt alone where that holds the facts: it is sooner."""
    description = about(request.checkpoint)
    if description is not None and description.family.continues:
        prompt = recording_of_text(request)
        if all(fact.query < len(read(prompt, fact.kind, reading).rows) for fact in scene.facts):
            return prompt
    return answer(request).recording


PAGE = Page(
    "gallery",
    "Gallery",
    "Learn",
    9,
    draw,
    shows="nothing",
    subject="Effects of attention that are really there, each with a picture and a link",
)
