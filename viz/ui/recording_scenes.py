"""What the model makes of each scene of a story: in the line with everything else that is asked."""

from dataclasses import replace

from transformer.refusal import Refusal
from viz.notebook.scenes import Made
from viz.notebook.story_page import story_page
from viz.stories.story import Scene, Story
from viz.ui.header import first_example, request_of
from viz.ui.opened import shipped_names
from viz.ui.page import Pane, chosen_head
from viz.ui.request import answer


def story_file(story: Story) -> bytes:
    """The story as one HTML file: scenes that cannot be made are words only."""
    return story_page(story, [made(scene) for scene in story.scenes]).encode()


def made(scene: Scene) -> Made | None:
    """What the model makes of a scene; None where it cannot."""
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
        return Made(pane.screen, found.checkpoint, *found.made, reading, first, second)
    except Refusal:
        return None
