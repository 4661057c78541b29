"""A whole story as one HTML file: recorded scenes, the components' own drawing code, no network."""

import html
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from viz.components.kit.browser import Component, bundle, palette
from viz.components.question.question import QUESTION
from viz.export import POLICY, inline, page_html
from viz.labels import escaped
from viz.live.alive.weights import Weights, weights_within
from viz.notebook.saved import (
    SavedScene,
    chart_images,
    draws_of,
    json_element,
    saved_content,
    scene_typed,
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
    story: Story,
    saved: Sequence[SavedScene | None],
    typeface: str = "",
    back: str = "",
    models: Mapping[str, Any] | None = None,
    base: str = "",
) -> str:
    """The page: keys as on stage; the speaker's notes are left out.

    saved: one a scene, None where the model could not answer it. typeface: CSS rules for the one
    that the app has. back: HTML, a link to where it is listed. Scenes into which a reader types are
    answered by one checkpoint, that of the first of them; those of others were recorded, and say
    so. models: of a folder of pages, by their names, what `models_of` gives of the checkpoints
    whose weights are there, and base the way from the page to it, as `../`; left out, the weights
    are in the page. Raises SiteError.
    """
    pairs = zip(story.scenes, saved, strict=True)
    whole = [each or SavedScene(scene.screen.text) for scene, each in pairs]
    weights, whole = _with_weights(whole, models, base)
    pictures = [each.pictures for each in whole]
    components = {each.component.name: each.component for scene in pictures for each in scene}
    content = {
        "themes": {theme.name: palette(theme) for theme in THEMES},
        "components": {
            name: {"html": each.html, "css": each.css} for name, each in components.items()
        },
        "scenes": [[saved_content(each, THEMES) for each in scene] for scene in pictures],
        "live": [
            each.typed and scene_typed(each.typed, each.written, each.pictures, THEMES)
            for each in whole
        ],
    }
    sections = zip(story.scenes, whole, strict=True)
    # A picture is as high as what scrolls it leaves: viz/components/kit/room.js looks for this one.
    scenes = "".join(_section(scene, each) for scene, each in sections)
    body = f'<main data-testid="stMain">{scenes}</main>{_around(story, back)}'
    body += _code(components, content, typeface, weights)
    return page_html(story.title, body, "transparent", weights.policy if weights else POLICY)


def _with_weights(
    saved: Sequence[SavedScene], models: Mapping[str, Any] | None, base: str
) -> tuple[Weights | None, list[SavedScene]]:
    """Return what answers, None where nobody types, and the scenes: others were recorded."""
    named = [each.typed.checkpoint for each in saved if each.typed]
    if models is not None:
        named = [each for each in named if each.name in models]
    first = named[0] if named else None
    names = "no weights" if first is None else f"only the weights of {first.name}"
    scenes = [
        replace(each, typed=None, why_recorded=f"this page has {names}")
        if each.typed and (first is None or each.typed.checkpoint.path != first.path)
        else each
        for each in saved
    ]
    if first is None:
        return None, scenes
    if models is not None:
        return Weights(models[first.name], {}, base), scenes
    return weights_within(first), scenes


def _section(scene: Scene, saved: SavedScene) -> str:
    words = _HERE.sub(r"\1", as_html(scene.text))
    is_asked = bool(saved.pictures) and saved.pictures[0].component == QUESTION
    asks = " data-asks" * is_asked  # its pictures wait for the answer
    why = f' data-why="{escaped(saved.why_recorded)}"' if saved.why_recorded else ""
    return (
        f'<section hidden{asks}{why}><header><h1 dir="auto">{escaped(scene.heading)}</h1>'
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
        f'<footer class="around">{back}<span class="recorded">recorded</span>'
        '<span class="model" role="status" hidden></span>'
        '<button class="place" title="Overview (o)">'
        '<output aria-label="Scene"></output></button></footer>'
    )


def _code(
    components: dict[str, Component],
    content: dict[str, Any],
    typeface: str,
    weights: Weights | None,
) -> str:
    module = f"{draws_of(components.values())}\nconst story = {bundle(_SCRIPT).script};"
    types = f", {Weights.entry()}" if weights else ""
    content_of_page = 'JSON.parse(document.querySelector("#content").textContent)'
    start = f"story(draws, {content_of_page}{types});"
    return (
        f"<style>{typeface}{WALL}{_STYLE}</style>"
        f"{json_element('content', content)}{weights.html() if weights else ''}"
        f'<script type="module">\n{inline(module)}\n{start}\n</script>'
    )
