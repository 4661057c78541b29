"""A whole story as one HTML file: recorded scenes, the components' own drawing code, no network."""

import html
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from viz.components.kit.browser import Component, palette
from viz.components.kit.modules import bundle
from viz.components.question.question import QUESTION
from viz.export import page_html
from viz.notebook.picture import given, inline
from viz.notebook.printed import printed
from viz.notebook.scenes import Drawn, Made, drawn
from viz.screen import link
from viz.stories.markdown import as_html
from viz.stories.story import Scene, Story
from viz.theme import DARK, LIGHT

_SCRIPT = Path(__file__).with_name("story.js")
WALL, _STYLE = (
    Path(__file__).with_name(f"{name}.css").read_text("utf-8") for name in ("wall", "story")
)
"""How a scene looks on a wall, and what is around it in a page of its own."""
THEMES = (LIGHT, DARK)
_HERE = re.compile(r'<a data-state href="[^"]*">(.*?)</a>')
"""A link to a screen of the app, which is not there."""


def story_page(story: Story, made: Sequence[Made | None], typeface: str = "") -> str:
    """The page: keys as on stage; the speaker's notes are left out.

    made: of each scene what the model made of it, None where it could not be made. typeface: CSS
    rules for the one that the app has.
    """
    shown = [drawn(each) if each is not None else [] for each in made]
    components = {each.component.name: each.component for scene in shown for each in scene}
    content = {
        "themes": {theme.name: palette(theme) for theme in THEMES},
        "components": {
            name: {"html": each.html, "css": each.css} for name, each in components.items()
        },
        "scenes": [[_content(each) for each in scene] for scene in shown],
    }
    sections = zip(story.scenes, made, shown, strict=True)
    # A picture is as high as what scrolls it leaves: viz/components/kit/room.js looks for this one.
    told = "".join(_section(*each) for each in sections)
    body = f'<main data-testid="stMain">{told}</main>{_around(story)}'
    return page_html(story.title, body + _code(components, content, typeface), "transparent")


def _content(picture: Drawn) -> dict[str, Any]:
    return {
        "component": picture.component.name,
        "first": given(picture.data, picture.payload, THEMES),
        "answers": {
            json.dumps(asked, separators=(",", ":")): given(picture.data, answer, THEMES)
            for asked, answer in picture.answers.items()
        },
    }


def _section(scene: Scene, made: Made | None, shown: Sequence[Drawn]) -> str:
    words = _HERE.sub(r"\1", as_html(scene.text))
    is_asked = bool(shown) and shown[0].component == QUESTION
    asks = " data-asks" * is_asked  # its pictures wait for the answer
    pictures = "".join(
        f'<div class="picture" role="group" aria-label="{html.escape(each.says)}"></div>'
        for each in shown
    )
    if made is not None and made.charts and not shown:
        pictures = printed(made.charts, THEMES)
    elif not shown:
        pictures = f'<p class="live">In Headscope only: {html.escape(link(scene.screen))}</p>'
    return (
        f"<section hidden{asks}><header><h1>{html.escape(scene.heading)}</h1>"
        f'<div class="words">{words}</div></header>{_sentence(scene, made)}'
        f'{made.outputs if made else ""}<div class="pictures">{pictures}</div></section>\n'
    )


def _sentence(scene: Scene, made: Made | None) -> str:
    """What was read, and what was written; nothing of a page that is about no sentence."""
    text = scene.screen.text if made is None else made.screen.text
    if text is None:
        return ""
    written = made.decoding.text if made is not None and made.decoding is not None else ""
    arrow = f'<span class="written"> → {html.escape(written)}</span>' if written else ""
    return f'<p class="sentence">{html.escape(text)}{arrow}</p>'


def _around(story: Story) -> str:
    """The overview, what is shown while nothing is to be seen, and the place."""
    names = enumerate(scene.heading for scene in story.scenes)
    items = "".join(
        f'<button value="{i}">{i + 1}. {html.escape(heading)}</button>' for i, heading in names
    )
    return (
        f'<div class="overview" hidden>{items}</div><div class="blank" hidden></div>'
        '<footer class="around"><span>recorded</span><button title="Overview (o)">'
        '<output aria-label="Scene"></output></button></footer>'
    )


def _code(components: dict[str, Component], content: dict[str, Any], typeface: str) -> str:
    # No text that is a page's may end its element: JSON may write "<" as a number instead.
    text = json.dumps(content).replace("<", "\\u003c")
    draws = ",\n".join(f"{json.dumps(name)}: {each.script}" for name, each in components.items())
    module = f"const draws = {{{draws}}};\nconst story = {bundle(_SCRIPT).script};"
    start = 'story(draws, JSON.parse(document.querySelector("#content").textContent));'
    return (
        f"<style>{typeface}{WALL}{_STYLE}</style>"
        f'<script type="application/json" id="content">{text}</script>\n'
        f'<script type="module">\n{inline(module)}\n{start}\n</script>'
    )
