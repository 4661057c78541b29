"""The story that is put together: its scenes in a list, and links that lead to it."""

import html
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from transformer.refusal import visible
from viz.app_packages import st
from viz.components.kit.browser import digest
from viz.components.kit.sync import guarded
from viz.components.scene_fit.scene_fit import scene_fit
from viz.components.scene_list.scene_list import SceneEntry, scene_list
from viz.labels import escaped, literal
from viz.run.settings import is_public
from viz.screen import Screen, link
from viz.server.recording_scenes import story_file
from viz.state.checkpoints import checkpoint_names
from viz.state.state import change, current_theme, session, warn, widget
from viz.stories.reading import MOST_SCENES, one_line, plain, trimmed, write_story
from viz.stories.story import Scene, Story
from viz.talks.stories import doubts
from viz.talks.story import screen_words, thumbnail_address
from viz.talks.story_drafts import changed, draft, where_kept
from viz.ui.save_menu import download

# Links that lead to a story, and a button that saves it.


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


# The story that is put together: its scenes in a list, and one of them to be changed.

LONGEST = 100_000
"""Characters of a text or of notes."""


@dataclass
class Undo:
    """Scenes that were removed from stories in a session."""

    scenes: list[tuple[str, int, Scene]] = field(default_factory=list)
    """Scenes with the code of their story and their places, the last one last."""


def edit_story(story: Story) -> None:
    """Title, what saves it, its scenes in their order, and the one that the Screen names."""
    st.text_input("Title", story.title, **widget("story title", story.title, _retitle))
    with st.container(horizontal=True, vertical_alignment="center"):
        if story.scenes:
            draw_links(story)
            markdown = write_story(story)
            download(
                "Save the story as MD", markdown.encode, f"{file_name(story)}.md", "As Markdown"
            )
            save_page(story)
    st.caption(literal(where_kept()))
    for doubt in doubts(story, checkpoint_names()):
        warn(doubt)
    _offer_back(story)
    if not story.scenes:
        return
    numbers = range(1, len(story.scenes) + 1)
    scene_fit(
        [link(replace(story.screen_of(number), role="stage")) for number in numbers],
        markdown,
        theme=current_theme(),
    )
    at = story.nearest(session().screen.scene) - 1
    scenes, form = st.columns([1, 2], gap="large")
    with scenes:
        _list(story, at)
    with form:
        _scene(at, story.scenes[at], len(story.scenes))


def _list(story: Story, at: int) -> None:
    """All scenes, each with a link that opens its form."""
    screen, theme, code = session().screen, current_theme(), str(session().screen.draft)
    scenes = [
        SceneEntry(
            visible(scene.heading),
            screen_words(scene.screen),
            link(replace(screen, scene=i)),
            thumbnail_address(code, scene.screen, theme.name),
            f"{digest(repr(scene).encode())} {story.scenes[:i].count(scene)}",
        )
        for i, scene in enumerate(story.scenes, 1)
    ]
    scene_list(scenes, at, theme, on_order=_order)


def _scene(i: int, scene: Scene, n: int) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.text_input(
            f"Heading of scene {i + 1}",
            scene.heading,
            **widget(f"scene heading {i}", scene.heading, partial(_head, i)),
        )
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.html(anchor(scene.screen, "Open"), width="content")
        _button("Up", "arrow_upward", i == 0, partial(_move, i, i - 1))
        _button("Down", "arrow_downward", i == n - 1, partial(_move, i, i + 1))
        _button("Duplicate", "content_copy", n == MOST_SCENES, partial(_duplicate, i))
        _button("Remove", "delete", False, partial(_remove, i))
    for name, title in (("text", "Words"), ("notes", "Speaker's notes")):
        value = getattr(scene, name)
        st.text_area(
            f"{title} of scene {i + 1}",
            value,
            max_chars=LONGEST,
            height="content",
            **widget(f"{name} {i}", value, partial(_reword, i, name)),
        )
    if scene.question is None:
        st.checkbox(
            f"The reader of scene {i + 1} can type",
            scene.live,
            help="In the story saved as HTML: its model is in the file, and answers in the browser",
            **widget(f"live {i}", scene.live, partial(_set_live, i)),
        )


def _button(title: str, icon: str, disabled: bool, do: Callable[[], None]) -> None:
    st.button(
        title,
        key=f"scene {title}",
        icon=f":material/{icon}:",
        type="tertiary",
        disabled=disabled,
        on_click=guarded(do),
    )


def _offer_back(story: Story) -> None:
    """Draw the button that undoes the last "Remove"."""
    code = session().screen.draft
    removed = [each for each in session().of(Undo).scenes if each[0] == code]
    if removed and len(story.scenes) < MOST_SCENES:
        heading = removed[-1][2].heading
        st.button(
            f"Put “{literal(heading[:80])}” back",
            key="put back",
            icon=":material/undo:",
            on_click=guarded(_put_back),
        )


def _retitle(title: str) -> None:
    if one_line(title):
        changed(lambda story: replace(story, title=one_line(title)))


def _head(i: int, heading: str) -> None:
    """It is one line, and never empty."""
    title = one_line(heading) or "A scene"
    changed(lambda story: _with(story, i, replace(story.scenes[i], heading=title)))


def _reword(i: int, name: str, text: str) -> None:
    words: dict[str, Any] = {name: trimmed(plain(text))}
    changed(lambda story: _with(story, i, replace(story.scenes[i], **words)))


def _set_live(i: int, live: bool) -> None:
    changed(lambda story: _with(story, i, replace(story.scenes[i], live=live)))


def _with(story: Story, i: int, *scenes: Scene) -> Story:
    return replace(story, scenes=(*story.scenes[:i], *scenes, *story.scenes[i + 1 :]))


def _move(start: int, end: int) -> None:
    def moved(story: Story) -> Story:
        order = list(range(len(story.scenes)))
        order.insert(end, order.pop(start))
        return _ordered(story, order)

    changed(moved)
    change(scene=end + 1)


def _order(order: Sequence[int]) -> None:
    """Put the scenes in this order; the one that is open stays so, wherever it is then."""
    if (before := draft()) is None or len(before.scenes) != len(order):
        return  # another window has changed it
    at = before.nearest(session().screen.scene) - 1
    changed(lambda story: _ordered(story, order))
    change(scene=order.index(at) + 1)


def _ordered(story: Story, order: Sequence[int]) -> Story:
    return replace(story, scenes=tuple(story.scenes[i] for i in order))


def _duplicate(i: int) -> None:
    changed(lambda story: _with(story, i, story.scenes[i], story.scenes[i]))
    change(scene=i + 2)


def _remove(i: int) -> None:
    def removed(story: Story) -> Story:
        own, code = session().of(Undo), str(session().screen.draft)
        own.scenes = [*own.scenes, (code, i, story.scenes[i])][-MOST_SCENES:]
        return _with(story, i)

    changed(removed)


def _put_back() -> None:
    own, code = session().of(Undo), session().screen.draft
    last = max(n for n, each in enumerate(own.scenes) if each[0] == code)
    _, i, scene = own.scenes.pop(last)

    def put(story: Story) -> Story:
        return replace(story, scenes=(*story.scenes[:i], scene, *story.scenes[i:]))

    changed(put)
    change(scene=i + 1)
