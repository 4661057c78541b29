"""A scene for a wall: its heading and text above the page, which stays as live as it is."""

import html
from dataclasses import replace

import streamlit as st

from viz.components.stage.stage import stage
from viz.screen import Screen, link
from viz.stories.markdown import as_html
from viz.stories.shipped import stories_of
from viz.stories.story import Story
from viz.ui.recorded import recording_of
from viz.ui.stage_style import STAGE_STYLE
from viz.ui.state import current_theme, session
from viz.ui.stories import story_of


def on_stage() -> bool:
    """Whether the screen is one for a wall: navigation and tools are out of sight."""
    screen = session().screen
    return screen.role in ("stage", "audience") and story_of(screen.story) is not None


def open_scene() -> None:
    """On a stage, draw what stands above the page, and hear the keys of the talk."""
    screen = session().screen
    story = story_of(screen.story)
    if story is None or not on_stage():
        return
    number = story.nearest(screen.scene)
    scene = story.scenes[number - 1]
    links = [
        (each.heading, link(replace(story.told(i), role=screen.role, room=screen.room)))
        for i, each in enumerate(story.scenes, 1)
    ]
    st.html(STAGE_STYLE)
    leave = link(replace(screen, role=None, room=None, guess=None))
    ours = {name: getattr(screen, name) for name in ("role", "room", "draft", "guess")}
    told = replace(story.told(number), **ours)
    stage(
        story.title,
        links,
        leave=leave,
        recorded=recording_of(story.name),
        is_told=screen == told,
        theme=current_theme(),
    )
    with st.container(key="scene", gap=None):
        st.html(f'<h1 data-scene="{number:d}">{html.escape(scene.heading)}</h1>')
        st.html(as_html(scene.text))


def list_talks() -> None:
    """Draw a link to each talk that can be given."""
    for story in stories_of("talk"):
        told = html.escape(f"{story.title} ({len(story.scenes)} scenes)")
        st.html(f'<p><a data-state href="{_first(story)}">Give a talk: {told}</a></p>')


def _first(story: Story) -> str:
    first: Screen = replace(story.told(1), role="stage")
    return html.escape(link(first))
