"""A folder of static files, or one file, in which checkpoints answer what a reader types.

A folder holds index.html and the weights in parts that any host takes; one file holds all of it and
opens from disk. Neither asks another host for anything: the page's policy forbids it.
"""

import html
import json
import re
import shutil
from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from string import Template
from typing import Any

from transformer import Checkpoint, Decoding, Recording
from transformer.analysis.reading import Reading
from transformer.edits import edit_kinds
from transformer.files.foreign_text import write_whole
from viz.choice import PICTURE
from viz.components.head_grid.head_grid import HeadGrid
from viz.components.head_view.head_view import HeadView
from viz.components.kit.browser import Component, bundle, digest
from viz.components.token_rows.token_rows import TITLES, TokenRows
from viz.export import inline
from viz.live.alive.embedding import embedded
from viz.live.bare_arrays import arrays_tables
from viz.live.heads import surveys_of
from viz.live.models import POLICY, SiteError, example, models_of, opens_at, worker_script
from viz.live.shelf.assets import divided, typeface
from viz.live.shelf.lists import Listing, Shelf
from viz.screen import all_choices
from viz.spelling import FORMER
from viz.theme import DARK, LIGHT

HERE = Path(__file__).parent
CONTROLS = HERE / "page" / "controls.css"
STYLES = CONTROLS, HERE / "page" / "page.css", HERE / "shelf" / "lists.css"
NO_SHELF = Shelf()
DONE = (
    *("checkpoint", "text", "decoding", "edits", "prefix", "tool", "tokens", "special", "kind"),
    *("layer", "head", "mean", "picture", "path", "own_scale", "heads", "lines", "pins", "cell"),
    *("tint", "alignment", "show", "sort", "top", "step", "page"),
    *("checkpoint_b", "edited_b", "own_b", "method_b", "same_head"),
    *("kind_b", "layer_b", "head_b", "heads_b"),
    *("heads_kind", "heads_find", "heads_order", "sweep_sort", "sweep_kind", "sweep_asked"),
)
"""Choices of an address that the page reads; of the others it says where they can be seen."""


@dataclass(frozen=True)
class Site:
    """A page that was written."""

    folder: Path
    files: Mapping[str, int]
    """Name -> bytes."""


def build(
    checkpoints: Sequence[Checkpoint],
    out: Path,
    words: Mapping[str, Any],
    one_file: bool = False,
    shelf: Shelf = NO_SHELF,
) -> Site:
    """Write a page in which these checkpoints answer, the first one unless another is chosen.

    out: a folder, or with `one_file` a file that ends in .html, which has no shelf. words: the
    sentences of the page. shelf: all that stands beside it. Raises SiteError, CheckpointError, and
    OSError.
    """
    if not checkpoints:
        raise SiteError("There is no checkpoint to answer: name one with --checkpoint.")
    models, files, elements = models_of(checkpoints, one_file)
    surveys, files_of_heads, elements_of_heads = surveys_of(checkpoints, one_file)
    files, elements = files | files_of_heads, elements | elements_of_heads
    beside = NO_SHELF if one_file else shelf
    page = _page(checkpoints, models, surveys, words, elements, beside, one_file)
    if one_file:
        write_whole(out, page)
        return Site(out.parent, {out.name: len(page)})
    others = embedded(models, words, fields(), of_text())
    pages = chain([("index.html", page)], others.items(), beside.pages)
    for name, content in chain(files.items(), divided(pages)):
        (out / name).parent.mkdir(parents=True, exist_ok=True)
        write_whole(out / name, content)
    for each in checkpoints:
        shutil.copy(Path(each.path) / "card.md", out / "weights" / f"{each.name}.card.md")
    written = {str(it.relative_to(out)): it.stat().st_size for it in out.rglob("*") if it.is_file()}
    return Site(out, written)


def _page(
    checkpoints: Sequence[Checkpoint],
    models: Sequence[Mapping[str, Any]],
    surveys: Mapping[str, Any],
    words: Mapping[str, Any],
    elements: Mapping[str, str],
    shelf: Shelf,
    one_file: bool,
) -> bytes:
    first = checkpoints[0]
    examples = [example(first, text) for text in first.about.examples]
    drawn = [*models[0]["tables"]["themes"]["light"]["heads"], "change_offer", "word_card"]
    components = {name: Component(name) for name in drawn}
    content = {
        "models": models,
        "surveys": surveys,
        "arrays": arrays_tables(),
        "words": _with_lists(words, shelf.lists),
        "fields": fields(),
        "ofText": of_text(),
        "former": FORMER,
        "places": shelf.places,
        "opening": sorted(PICTURE),
        "components": {name: {"html": it.html, "css": it.css} for name, it in components.items()},
        "variables": {theme.name: theme.variables for theme in (LIGHT, DARK)},
        "recorded": [_recorded(first, *each) for each in examples],
    }
    worker = worker_script()
    draws = ",\n".join(f"{json.dumps(name)}: {it.script}" for name, it in components.items())
    code = (
        f"const draws = {{{draws}}};\nconst live = {bundle(HERE / 'page' / 'page.js').script};\n"
        f"live(draws, {json.dumps(worker)}, "
        'JSON.parse(document.querySelector("#content").textContent));'
    )
    plain = {name: it for name, it in words.items() if isinstance(it, str)}
    body = Template((HERE / "page" / "page.html").read_text("utf-8")).substitute(
        {name: html.escape(text) for name, text in plain.items()}
        | {
            "about": words["about"],  # it has links
            "style": typeface() + "\n".join(it.read_text("utf-8") for it in STYLES),
            "first": shelf.first,
            "menu": "\n".join(map(_entry, shelf.lists)),
            "lists": "\n".join(map(_list, shelf.lists)),
            "content": json.dumps(content, ensure_ascii=False).replace("<", "\\u003c"),
            "code": inline(code),
            "files": "\n".join(
                f'<script type="application/octet-stream" id="{name}">{text}</script>'
                for name, text in elements.items()
            ),
            "cards": "".join(map(_card, checkpoints)),
        }
    )
    policy = POLICY if one_file else f"{POLICY}; connect-src 'self'"
    return page_of(words["title"], words["description"], policy, body).encode()


def page_of(title: str, description: str, policy: str, body: str) -> str:
    """A whole page under a policy."""
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        f'<link rel="icon" href="data:image/svg+xml;base64,{_icon()}">\n'
        f"<title>{html.escape(title)}</title>\n"
        f'<meta name="description" content="{html.escape(description)}">\n'
        f'<meta property="og:title" content="{html.escape(title)}">\n'
        f'<meta property="og:description" content="{html.escape(description)}">\n'
        f"</head>\n<body>\n{body}\n</body>\n</html>\n"
    )


def _with_lists(words: Mapping[str, Any], lists: Sequence[Listing]) -> dict[str, Any]:
    return {**words, "here": words["here"] | {it.name: it.subject for it in lists}}


def _entry(it: Listing) -> str:
    return f'<button type="button" data-page="{it.name}">{html.escape(it.title)}</button>'


def _list(it: Listing) -> str:
    return f'<section data-of="{it.name}" class="list" hidden>{it.body}</section>'


def _icon() -> str:
    return b64encode((HERE.parent / "ui" / "icon.svg").read_bytes()).decode()


def _card(checkpoint: Checkpoint) -> str:
    text = (Path(checkpoint.path) / "card.md").read_text("utf-8")
    return f"<h3>{html.escape(checkpoint.name)}</h3><pre>{html.escape(text)}</pre>"


def page_names() -> list[str]:
    """The names of the pages in which something is computed."""
    page = (HERE / "page" / "page.html").read_text("utf-8")
    return [*dict.fromkeys(re.findall(r'data-page="(\w+)"', page))]


def fields() -> list[list[Any]]:
    """Every choice of an address: its name, its default, and the choices that it belongs to; of one
    that the page does not read the default is null.
    """
    result: list[list[Any]] = []
    for name, it in all_choices().items():
        default = None
        if name in DONE:
            write = it.metadata["spelling"].write
            default = "" if it.default in (None, ()) else write(it.default)
            default = "" if it.default is False else default
        result.append([name, default, sorted(it.metadata["about"])])
    return result


def of_text() -> list[str]:
    """The kinds of edits that name words of a text."""
    return [name for name, kind in edit_kinds().items() if kind.is_of_text]


# The examples' first pictures, which Python makes: they are painted before any weight is there.


def _recorded(
    checkpoint: Checkpoint, text: str, recording: Recording, decoding: Decoding | None
) -> dict[str, Any]:
    pictures = {}
    for each in _first_pictures(checkpoint):
        payload = each.payload(recording, decoding)
        packed = {"payload": b64encode(payload).decode(), "nonce": digest(payload)}
        pictures[each.component.name] = packed
    return {
        "checkpoint": checkpoint.name,
        "text": text,
        "pictures": pictures,
        "output": decoding.text if decoding else _predicted(recording),
    }


def _predicted(recording: Recording) -> str:
    result = recording.classification
    return "" if result is None else result.classes[int(result.logits.argmax())]


def _first_pictures(checkpoint: Checkpoint) -> list[Any]:
    """The pictures of a first visit."""
    about = checkpoint.about
    kind, layer, _ = opens_at(checkpoint)
    reading = Reading(words=True, special=about.special or "shown")
    return [
        TokenRows(TITLES[checkpoint.family.reads]),
        HeadGrid(tuple(checkpoint.family.attentions), reading),
        HeadView(kind, layer, reading),
    ]
