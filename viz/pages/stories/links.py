"""Links that lead to a story, and a button that saves it."""

import html
import re
from dataclasses import replace

from viz.app_packages import st
from viz.labels import escaped
from viz.run.settings import is_public
from viz.screen import Screen, link
from viz.server.recording_scenes import story_file
from viz.stories.story import Story
from viz.ui.saving import download


def anchor(screen: Screen, words: str) -> str:
    """A link as those of the cards, as HTML; words: any text, escaped here."""
    return f'<a data-state href="{html.escape(link(screen))}">{escaped(words)}</a>'


def draw_links(story: Story) -> None:
    """Draw the links that tell it on a wall, and from its first scene."""
    stage = replace(story.screen_of(1), role="stage")
    st.html(anchor(stage, "Give it as a talk"), width="content")
    st.html(anchor(story.screen_of(1), "Read it"), width="content")


def save_page(story: Story) -> None:
    """The whole story as a page of its own; every scene is run for it when it is asked for."""
    if not is_public():
        download(
            "Save the story as HTML",
            lambda: story_file(story),
            f"{file_name(story)}.html",
            "One file that needs no server and no network: every scene as it is now, with the keys "
            "of a talk",
        )


def file_name(story: Story) -> str:
    """Without what it ends in."""
    return "-".join(re.findall(r"[a-z0-9]+", story.title.lower()))[:60] or "story"
