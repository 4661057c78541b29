"""Stories: one of one's own, put together, saved and opened again, and those that are shipped."""

from functools import partial

from viz.app_packages import st
from viz.components.kit.guarded import guarded
from viz.labels import literal
from viz.pages.stories.editor import edit_story
from viz.pages.stories.links import anchor, draw_links
from viz.pages.stories.opening import open_box
from viz.pages.stories.talks import draw_talks
from viz.screen import Screen
from viz.state.browser import this_browser
from viz.state.note import note, warn
from viz.state.page import Page, Pane
from viz.state.state import session
from viz.stories.story import Story
from viz.talks.audience_link import who_follows
from viz.talks.collecting import ADD, GONE, anothers, begin, draft
from viz.talks.story_drafts import DRAFTS


def draw(pane: Pane) -> None:
    """Draw the story that is put together first; where there is none, the talks that are there."""
    st.markdown(
        "A story is a sequence of screens with words beside them. Every scene stays live: give it "
        "as a talk, with a window of your own for notes and phones that follow, read it by "
        "yourself, or save it as one HTML file that needs no server."
    )
    st.caption(
        "Keys of a talk: → or PageDown leads on, ← or PageUp back, p opens your own window, q "
        "shows the audience's link, o all scenes, h all heads, b black, d dark, f full screen, "
        "Esc ends it."
    )
    st.caption(literal(who_follows()))
    if session().screen.draft is None:
        draw_talks()
        _own()
    else:
        _own()
        draw_talks()


def _own() -> None:
    """The story that is put together, or how one begins."""
    made = draft()
    with st.container(horizontal=True, vertical_alignment="center"):
        st.subheader("Your own story", anchor=False, width="stretch")
        open_box()
    if made is not None:
        edit_story(made)
    elif (other := anothers()) is not None:
        _copying(other)
    elif session().screen.draft is not None:
        warn(GONE)
    else:
        st.markdown(
            f"1. Wherever you see something worth telling, press **{ADD}**: in the sidebar (»), in "
            "Explore's Save, or on Decode.\n"
            "2. Here, give each scene a heading, words and notes, put them in order, and check "
            "that every scene fits a wall.\n"
            "3. Give it as a talk, and save it: as Markdown, which opens here again, or as HTML."
        )
        _list_drafts()


def _list_drafts() -> None:
    """Links to the stories that this browser put together before, at home."""
    if not (drafts := DRAFTS.drafts_of(this_browser())):
        return
    st.markdown("Go on with a story that you put together in this browser:")
    for code, story in drafts:
        n = len(story.scenes)
        words = f"{story.title} ({n} scene{'s' * (n != 1)})"
        st.html(anchor(Screen("stories", draft=code), words))
    st.caption(
        "They are kept on the machine of this app, and listed for this browser, which a cookie of "
        "it tells from others. Whoever has the link of a story reads it."
    )


def _copying(story: Story) -> None:
    """Offer a copy of a story that another browser puts together: whoever has its link reads it."""
    note(f"“{story.title}” is put together in another browser, and changed only there.")
    with st.container(horizontal=True, vertical_alignment="center"):
        if story.scenes:
            draw_links(story)
        copy = guarded(partial(begin, story))
        st.button("Copy it", help="A story of your own that begins as this one", on_click=copy)


PAGE = Page(
    "stories",
    "Stories",
    "Learn",
    13,
    draw,
    shows="nothing",
    subject="Talks whose pictures of attention are live, put together scene by scene",
)
