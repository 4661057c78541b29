"""Stories: one of one's own, put together, saved and opened again, and those that are shipped."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

from transformer.refusal import Refusal
from viz.app_packages import st
from viz.components.kit.sync import guarded
from viz.labels import literal
from viz.pages.stories.editor import anchor, draw_links, edit_story, save_page
from viz.screen import Screen
from viz.state.checkpoints import can_open
from viz.state.page import Page, Pane
from viz.state.state import fail, note, session, this_browser, warn
from viz.stories.markdown import as_html
from viz.stories.reading import stories_of
from viz.stories.story import Story
from viz.talks.room_links import who_follows
from viz.talks.stories import Dropped, of_content, open_story
from viz.talks.story import draw_words
from viz.talks.story_drafts import ADD, DRAFTS, GONE, anothers, begin, draft

# A story's file, uploaded, or by its path where paths may be opened.

_FILE, _PATH, _BOX = "story file", "story path", "open a story"


def open_box() -> None:
    """Draw the button and what it opens: it closes once a story was opened."""
    key = f"{_BOX} {session().turns.get(_BOX, 0)}"  # another one is closed, and holds no file
    with st.popover("Open a story", icon=":material/upload_file:", key=key):
        if why := session().of(Dropped).refused_story:
            fail(why)
        st.file_uploader(
            "A story, as it was saved here",
            ["md"],
            key=f"{_FILE} {key}",
            on_change=guarded(lambda: _take(f"{_FILE} {key}")),
            max_upload_size=1,
        )
        if can_open():
            path = f"{_PATH} {key}"
            st.text_input("Or its path", key=path, on_change=guarded(lambda: _take_path(path)))


def _take(key: str) -> None:
    file = st.session_state[key]
    if file is not None:
        _begin(lambda: of_content(file.name, file.getvalue()))


def _take_path(key: str) -> None:
    typed = str(st.session_state[key]).strip().strip("\"'")
    if typed:
        _begin(lambda: open_story(str(Path(typed).expanduser().absolute())))


def _begin(read: Callable[[], Story]) -> None:
    own = session().of(Dropped)
    own.refused_story = ""
    try:
        begin(read())
    except (Refusal, OSError, RuntimeError) as error:  # said until another one is given
        own.refused_story = str(error)
        return
    turns = session().turns
    turns[_BOX] = turns.get(_BOX, 0) + 1


# The talks that are shipped: what each is about, its scenes, and what gives it.

_STYLE = """
<style>
  .contents { columns: 17rem 3; gap: 2rem; margin: 0; padding: 0 0 0 1.6rem; }
  .contents li { margin: 0; padding: 0.2rem 0; break-inside: avoid; }
  .contents li::marker { color: var(--dim); }
  .contents a:not(:hover, :focus-visible) { color: inherit; text-decoration: none; }
</style>
"""


def draw_talks() -> None:
    """A card for each of them."""
    for story in stories_of("talk"):
        with st.container(border=True):
            st.subheader(literal(story.title), anchor=False)
            draw_words(as_html(story.introduction))
            with st.container(horizontal=True, vertical_alignment="center"):
                draw_links(story)
                save_page(story)
            st.html(contents(story))


def contents(story: Story) -> str:
    """All headings, each a link that reads it."""
    links = (
        anchor(story.screen_of(number), scene.heading)
        for number, scene in enumerate(story.scenes, 1)
    )
    items = "".join(f"<li>{link}</li>" for link in links)
    return f'{_STYLE}<nav aria-label="Contents"><ol class="contents">{items}</ol></nav>'


# Stories: one of one's own, put together, saved and opened again, and those that are shipped.


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
