"""A whole story as one HTML file: recorded scenes, the components' own drawing code, no network."""

import html
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from viz.components.kit.browser import Component, bundle, palette
from viz.components.question.question import QUESTION
from viz.export import inline, page_html
from viz.labels import escaped
from viz.notebook.saved import (
    SavedScene,
    chart_images,
    draws_of,
    json_element,
    saved_content,
)
from viz.screen import link
from viz.stories.markdown import as_html
from viz.stories.story import Scene, Story
from viz.theme import DARK, LIGHT

_SCRIPT = Path(__file__).with_name("story.js")
WALL, _STYLE = (
    Path(__file__).with_name(f"{name}.css").read_text("utf-8") for name in ("wall", "story")
)
"""The style of a scene on a wall, and of the page around it."""
THEMES = (LIGHT, DARK)
_HERE = re.compile(r'<a data-state href="[^"]*">(.*?)</a>')
"""A link to a screen of the app, which is not there."""


def story_page(
    story: Story, saved: Sequence[SavedScene | None], typeface: str = "", back: str = ""
) -> str:
    """The page: keys as on stage; the speaker's notes are left out.

    saved: one a scene, None where the model could not answer it. typeface: CSS rules for the one
    that the app has. back: HTML, a link to where it is listed.
    """
    pictures = [() if each is None else each.pictures for each in saved]
    components = {each.component.name: each.component for scene in pictures for each in scene}
    content = {
        "themes": {theme.name: palette(theme) for theme in THEMES},
        "components": {
            name: {"html": each.html, "css": each.css} for name, each in components.items()
        },
        "scenes": [[saved_content(each, THEMES) for each in scene] for scene in pictures],
    }
    sections = zip(story.scenes, saved, strict=True)
    # A picture is as high as what scrolls it leaves: viz/components/kit/room.js looks for this one.
    scenes = "".join(
        _section(scene, each or SavedScene(scene.screen.text)) for scene, each in sections
    )
    body = f'<main data-testid="stMain">{scenes}</main>{_around(story, back)}'
    return page_html(story.title, body + _code(components, content, typeface), "transparent")


def _section(scene: Scene, saved: SavedScene) -> str:
    words = _HERE.sub(r"\1", as_html(scene.text))
    is_asked = bool(saved.pictures) and saved.pictures[0].component == QUESTION
    asks = " data-asks" * is_asked  # its pictures wait for the answer
    return (
        f'<section hidden{asks}><header><h1 dir="auto">{escaped(scene.heading)}</h1>'
        f'<div class="words">{words}</div></header>{_sentence(saved)}{saved.outputs}'
        f'<div class="pictures">{_pictures(scene, saved)}</div></section>\n'
    )


def _pictures(scene: Scene, saved: SavedScene) -> str:
    if saved.pictures:
        return "".join(
            f'<div class="picture" role="group" aria-label="{escaped(each.says)}"></div>'
            for each in saved.pictures
        )
    if saved.charts:
        return chart_images(saved.charts, THEMES)
    return f'<p class="live">In Headscope only: {html.escape(link(scene.screen))}</p>'


def _sentence(saved: SavedScene) -> str:
    """The text that was read, and the one that was written."""
    if saved.text is None:
        return ""
    output = escaped(saved.written)
    arrow = f'<span class="written"> → {output}</span>' if output else ""
    return f'<p class="sentence" dir="auto">{escaped(saved.text)}{arrow}</p>'


def _around(story: Story, back: str) -> str:
    """The overview, what is shown while nothing is to be seen, and the place."""
    names = enumerate(scene.heading for scene in story.scenes)
    items = "".join(
        f'<button value="{i}">{i + 1}. {escaped(heading)}</button>' for i, heading in names
    )
    return (
        f'<div class="overview" hidden>{items}</div><div class="blank" hidden></div>'
        f'<footer class="around">{back}<span>recorded</span><button title="Overview (o)">'
        '<output aria-label="Scene"></output></button></footer>'
    )


def _code(components: dict[str, Component], content: dict[str, Any], typeface: str) -> str:
    module = f"{draws_of(components.values())}\nconst story = {bundle(_SCRIPT).script};"
    start = 'story(draws, JSON.parse(document.querySelector("#content").textContent));'
    return (
        f"<style>{typeface}{WALL}{_STYLE}</style>"
        f"{json_element('content', content)}"
        f'<script type="module">\n{inline(module)}\n{start}\n</script>'
    )
