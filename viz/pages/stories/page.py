"""Stories: those that are shipped, and one of one's own, put together, saved and opened again."""

from functools import partial

import streamlit as st

from viz.components.kit.guarded import guarded
from viz.labels import literal
from viz.pages.stories.editor import edit_story
from viz.pages.stories.links import draw_links, save_page
from viz.pages.stories.opening import open_box
from viz.stories.shipped import stories_of
from viz.stories.story import Story
from viz.ui.collecting import ADD, GONE, anothers, begin, draft
from viz.ui.page import Page, Pane
from viz.ui.state import session


def draw(pane: Pane) -> None:
    """The talks that are there, what opens another one, and the one that is put together."""
    for story in stories_of("talk"):
        _talk(story)
    open_box()
    made = draft()
    if made is not None:
        edit_story(made)
    elif (other := anothers()) is not None:
        _copying(other)
    elif session().screen.draft is None:
        st.info(f"“{ADD}”, in Explore's Save, on Decode and in the sidebar, begins one.")
    else:
        st.warning(GONE)


def _copying(story: Story) -> None:
    """Of a story that another browser puts together: whoever has its link reads it."""
    said = f"“{literal(story.title)}” is put together in another browser, and changed only there."
    st.info(said)
    with st.container(horizontal=True, vertical_alignment="center"):
        if story.scenes:
            draw_links(story)
        copy = guarded(partial(begin, story))
        st.button("Copy it", help="A story of your own that begins as this one", on_click=copy)


def _talk(story: Story) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f"**{literal(story.title)}** · {len(story.scenes)} scenes")
        draw_links(story)
        save_page(story)


PAGE = Page("stories", "Stories", "Learn", 12, draw, shows="nothing")
