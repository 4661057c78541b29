"""Files of a folder by which others embed its pictures: a page for a frame, and a script."""

import html
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from viz.choice import PICTURE
from viz.components.kit.browser import Component, bundle
from viz.export import inline, page_html
from viz.live.models import POLICY, worker_script
from viz.notebook.saved import draws_of, json_element
from viz.spelling import FORMER
from viz.theme import DARK, LIGHT

_HERE = Path(__file__).parent
DRAWN = ("head_view", "head_map", "cell_steps", "decode_player")
"""The components that a frame may show: the large one of a page."""
WORDS = {
    "coming": "{model} comes: {have} of {of} MB.",
    "waits": "{model} comes: {have} of {of} MB.",
    "failed": "{fault}.",
    "whole": "Open the whole page",
}


def embedded(
    models: Sequence[Mapping[str, Any]], words: Mapping[str, Any], fields: Any, of_text: Any
) -> dict[str, bytes]:
    """Return the files, by their names.

    models: all of the folder. words: those of its page. fields, of_text: how an address is read.
    """
    components = [Component(name) for name in DRAWN]
    content = {
        "models": models,
        "words": {**words, **WORDS},
        "fields": fields,
        "ofText": of_text,
        "former": FORMER,
        "opening": sorted(PICTURE),
        "components": {it.name: {"html": it.html, "css": it.css} for it in components},
        "variables": {theme.name: theme.variables for theme in (LIGHT, DARK)},
    }
    label, placeholder = (html.escape(words[each]) for each in ("sentence", "placeholder"))
    hosts = "".join(f'<div data-picture="{name}" hidden></div>' for name in DRAWN)
    start = 'JSON.parse(document.querySelector("#content").textContent)'
    code = (
        f"{draws_of(components)}\n({bundle(_HERE / 'figure.js').script})"
        f"(draws, {json.dumps(worker_script())}, {start});"
    )
    body = (
        f"<style>{(_HERE / 'figure.css').read_text('utf-8')}</style>\n"
        f'<div class="typed"><input aria-label="{label}" placeholder="{placeholder}" '
        'spellcheck="false" autocomplete="off"><output dir="auto"></output></div>\n'
        '<p><span class="model" role="status"><span></span> <progress hidden></progress> '
        '<button type="button" hidden></button></span> '
        f'<a target="_blank" rel="noopener">{html.escape(WORDS["whole"])}</a></p>\n'
        f'<p class="lacks" role="status" hidden></p>\n{hosts}\n'
        f"{json_element('content', content)}"
        f'<script type="module">\n{inline(code)}\n</script>'
    )
    page = page_html("Headscope", body, "transparent", f"{POLICY}; connect-src 'self'")
    script = (_HERE / "embed.js").read_text("utf-8")
    return {"figure.html": page.encode(), "embed.js": script.encode()}
