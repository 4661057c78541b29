"""The story that is put together: its scenes in a list, and one of them to be changed."""

import html
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from viz.app_packages import st
from viz.components.kit.guarded import guarded
from viz.components.scene_fit.scene_fit import scene_fit
from viz.labels import escaped, literal
from viz.pages.stories.links import anchor, draw_links, file_name, save_page
from viz.screen import link
from viz.state.checkpoints import checkpoint_names
from viz.state.note import warn
from viz.state.state import change, current_theme, session, widget
from viz.stories.reading import MOST_SCENES, one_line, plain, trimmed
from viz.stories.story import Scene, Story
from viz.stories.writing import write_story
from viz.talks.collecting import changed, where_kept
from viz.talks.scene_words import screen_words
from viz.talks.stories import doubts
from viz.ui.saving import download

LONGEST = 100_000
"""Characters of a text or of notes."""
_LIST = """
<style>
  .scenes { max-height: 34rem; margin: 0; overflow: auto; }
  .scenes li { margin: 0; padding: 0.15rem 0; overflow-wrap: anywhere; }
  .scenes a { color: inherit; text-underline-offset: 3px; }
  .scenes a:not(:hover, :focus-visible, [aria-current]) { text-decoration: none; }
  .scenes small { color: var(--dim); font-size: 0.875rem; }
  .scenes [aria-current] { color: var(--accent); font-weight: 600; }
</style>
"""


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
        st.html(_list(story, at))
    with form:
        _scene(at, story.scenes[at], len(story.scenes))


def _list(story: Story, at: int) -> str:
    """All headings, each a link that opens the scene's form."""
    screen, current = session().screen, ("", ' aria-current="true"')
    addresses = [link(replace(screen, scene=i + 1)) for i in range(len(story.scenes))]
    items = "".join(
        f'<li><a data-state href="{html.escape(address)}"{current[i == at]}>'
        f"{escaped(scene.heading)}</a> <small>{_shows(scene)}</small></li>"
        for i, (address, scene) in enumerate(zip(addresses, story.scenes, strict=True))
    )
    return f'{_LIST}<nav aria-label="Scenes"><ol class="scenes">{items}</ol></nav>'


def _shows(scene: Scene) -> str:
    return html.escape(screen_words(scene.screen))


def _scene(i: int, scene: Scene, n: int) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.text_input(
            f"Heading of scene {i + 1}",
            scene.heading,
            **widget(f"heading {i}", scene.heading, partial(_head, i)),
        )
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.html(anchor(scene.screen, "Open"), width="content")
        _button("Up", "arrow_upward", i == 0, partial(_move, i, -1))
        _button("Down", "arrow_downward", i == n - 1, partial(_move, i, 1))
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


def _with(story: Story, i: int, *scenes: Scene) -> Story:
    return replace(story, scenes=(*story.scenes[:i], *scenes, *story.scenes[i + 1 :]))


def _move(i: int, by: int) -> None:
    def moved(story: Story) -> Story:
        scenes = list(story.scenes)
        scenes.insert(i + by, scenes.pop(i))
        return replace(story, scenes=tuple(scenes))

    changed(moved)
    change(scene=i + by + 1)


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
