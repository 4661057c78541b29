"""Stories: those that are shipped, and one of one's own, put together, saved and opened again."""

import html
import re
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import streamlit as st

from transformer.refusal import Refusal
from viz.components.kit.guarded import guarded
from viz.components.scene_fit.scene_fit import scene_fit
from viz.labels import literal
from viz.screen import Screen, link
from viz.stories.reading import one_line, plain, trimmed
from viz.stories.shipped import stories_of
from viz.stories.story import Scene, Story
from viz.stories.writing import write_story
from viz.ui.collecting import ADD, anothers, begin, changed, draft
from viz.ui.opening import can_open
from viz.ui.page import Page, Pane
from viz.ui.recording_scenes import story_file
from viz.ui.saving import download
from viz.ui.settings import is_public
from viz.ui.state import current_theme, session, widget
from viz.ui.stories import of_content, open_story

_FILE = "story file"
LONGEST = 100_000
"""Characters of a text or of notes."""


def draw(pane: Pane) -> None:
    """The talks that are there, what opens another one, and the one that is put together."""
    for story in stories_of("talk"):
        _talk(story)
    _opening()
    made = draft()
    if made is not None:
        _editor(made)
    elif (other := anothers()) is not None:
        _copying(other)
    elif session().screen.draft is None:
        st.info(f"“{ADD}”, in Explore's Save and in the sidebar, begins one.")
    else:
        st.warning(
            "The story that was put together here is gone: the server keeps the last ones only. "
            "Open the file that it was saved as."
        )


def _copying(story: Story) -> None:
    """Of a story that another browser puts together: whoever has its link reads it."""
    said = f"“{literal(story.title)}” is put together in another browser, and changed only there."
    st.info(said)
    with st.container(horizontal=True, vertical_alignment="center"):
        if story.scenes:
            _links(story)
        copy = guarded(partial(begin, story))
        st.button("Copy it", help="A story of your own that begins as this one", on_click=copy)


def _talk(story: Story) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f"**{literal(story.title)}** · {len(story.scenes)} scenes")
        _links(story)
        _save_page(story)


def _save_page(story: Story) -> None:
    """The whole story as a page of its own; every scene is run for it when it is asked for."""
    if not is_public():
        download(
            "Save the story as HTML",
            lambda: story_file(story),
            f"{_file_name(story)}.html",
            "One file that needs no server and no network: every scene as it is now, with the keys "
            "of a talk",
        )


def _links(story: Story) -> None:
    stage = replace(story.told(1), role="stage")
    st.html(_anchor(story.told(1), "Read it"), width="content")
    st.html(_anchor(stage, "Give it as a talk"), width="content")


def _anchor(screen: Screen, words: str) -> str:
    return f'<a data-state href="{html.escape(link(screen))}">{words}</a>'


def _opening() -> None:
    """A file of one's own, uploaded, or by its path where paths may be opened."""
    with st.popover("Open a story", icon=":material/upload_file:"):
        st.file_uploader(
            "A story, as it was saved here",
            ["md"],
            key=_FILE,
            on_change=guarded(_take),
            max_upload_size=1,
        )
        if can_open():
            st.text_input("Or its path", key="story path", on_change=guarded(_take_path))
    if why := session().refused_story:
        st.error(literal(why), icon=":material/error:")


def _take() -> None:
    file = st.session_state[_FILE]
    if file is not None:
        _begin(lambda: of_content(file.name, file.getvalue()))


def _take_path() -> None:
    typed = str(st.session_state["story path"]).strip().strip("\"'")
    if typed:
        _begin(lambda: open_story(str(Path(typed).expanduser().absolute())))


def _begin(read: Callable[[], Story]) -> None:
    session().refused_story = ""
    try:
        begin(read())
    except (Refusal, OSError, RuntimeError) as error:  # said until another one is given
        session().refused_story = str(error)


def _editor(story: Story) -> None:
    """Title, what saves it, and its scenes in their order."""
    st.text_input("Title", story.title, **widget("story title", story.title, _retitle))
    with st.container(horizontal=True, vertical_alignment="center"):
        if story.scenes:
            _links(story)
            text = write_story(story)
            download("Save the story as MD", text.encode, f"{_file_name(story)}.md", "As Markdown")
            _save_page(story)
    if story.scenes:
        numbers = range(1, len(story.scenes) + 1)
        scene_fit(
            [link(replace(story.told(number), role="stage")) for number in numbers],
            write_story(story),
            theme=current_theme(),
        )
    for i, scene in enumerate(story.scenes):
        _scene(i, scene, len(story.scenes))


def _file_name(story: Story) -> str:
    return "-".join(re.findall(r"[a-z0-9]+", story.title.lower()))[:60] or "story"


def _retitle(title: str) -> None:
    if one_line(title):
        changed(lambda story: replace(story, title=one_line(title)))


def _scene(i: int, scene: Scene, n: int) -> None:
    with st.container(border=True):
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.text_input(
                f"Heading of scene {i + 1}",
                scene.heading,
                **widget(f"heading {i}", scene.heading, partial(_head, i)),
            )
            st.html(_anchor(scene.screen, "Open"))
            _button(i, "Up", "arrow_upward", i == 0, partial(_move, i, -1))
            _button(i, "Down", "arrow_downward", i == n - 1, partial(_move, i, 1))
            _button(i, "Remove", "delete", False, partial(_remove, i))
        for name, title in (("text", "Words"), ("notes", "Speaker's notes")):
            value = getattr(scene, name)
            st.text_area(
                f"{title} of scene {i + 1}",
                value,
                max_chars=LONGEST,
                height="content",
                **widget(f"{name} {i}", value, partial(_reword, i, name)),
            )


def _button(i: int, title: str, icon: str, disabled: bool, do: Callable[[], None]) -> None:
    st.button(
        f"{title} scene {i + 1}",
        key=f"{title} {i}",
        icon=f":material/{icon}:",
        type="tertiary",
        disabled=disabled,
        on_click=guarded(do),
    )


def _head(i: int, heading: str) -> None:
    """It is one line, and never empty."""
    said = one_line(heading) or "A scene"
    changed(lambda story: _with(story, i, replace(story.scenes[i], heading=said)))


def _reword(i: int, name: str, text: str) -> None:
    said: dict[str, Any] = {name: trimmed(plain(text))}
    changed(lambda story: _with(story, i, replace(story.scenes[i], **said)))


def _with(story: Story, i: int, *scenes: Scene) -> Story:
    return replace(story, scenes=(*story.scenes[:i], *scenes, *story.scenes[i + 1 :]))


def _move(i: int, by: int) -> None:
    def moved(story: Story) -> Story:
        scenes = list(story.scenes)
        scenes.insert(i + by, scenes.pop(i))
        return replace(story, scenes=tuple(scenes))

    changed(moved)


def _remove(i: int) -> None:
    changed(lambda story: _with(story, i))


PAGE = Page("stories", "Stories", "Learn", 12, draw, shows="nothing")
