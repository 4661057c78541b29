"""A folder of static files, or one file, in which checkpoints answer what a reader types.

A folder holds index.html and the weights in parts that any host takes; one file holds all of it and
opens from disk. Neither asks another host for anything: the page's policy forbids it.
"""

import html
import json
import shutil
from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from string import Template
from typing import Any

from transformer import Checkpoint, Decoding, Recording, decode, record
from transformer.analysis.reading import Reading
from transformer.config import ModelConfig
from transformer.corpus.usual_certainty import usual_certainty
from transformer.decoding import decoding_methods, default_method
from transformer.editing.checking import side_read
from transformer.edits import Edit, edit_kinds
from transformer.files.foreign_text import write_whole
from transformer.fingerprint import is_marked
from transformer.refusal import Refusal
from viz.choice import PICTURE
from viz.components.head_grid.head_grid import HeadGrid
from viz.components.head_view.head_view import HeadView
from viz.components.kit.browser import Component, bundle, digest
from viz.components.token_rows.token_rows import TITLES, TokenRows
from viz.edit_words import edit_text
from viz.labels import kind_title
from viz.live.tables import tables
from viz.notebook.picture import inline
from viz.screen import all_choices
from viz.theme import DARK, LIGHT

HERE = Path(__file__).parent
PART = 16 * 2**20
"""Bytes of a part of a file of weights: hosts take files of 25 MiB (Cloudflare Pages)."""
METHODS = ("beam", "greedy")
"""Decoding methods that the engine has; the others are in the app."""
DONE = (
    *("checkpoint", "text", "decoding", "edits", "prefix", "tool", "tokens", "special", "kind"),
    *("layer", "head", "mean", "picture", "path", "own_scale", "heads", "lines", "pins", "cell"),
    *("tint", "alignment", "show", "sort", "top", "step", "page"),
)
"""Choices of an address that the page reads; of the others it says where they can be seen."""
FILES = {"model": "model.safetensors"}
TOKENIZERS = {"sentencepiece": "tokenizer.model", "characters": "characters.txt", "numbers": ""}
"""Kind of a tokenizer that the engine reads -> its file; numbers need none."""
READ: dict[str, tuple[Any, ...]] = {
    "family": ("encoder_decoder", "decoder_only", "encoder_classifier"),
    "source_vocab_size": (None,),
    "norm_order": ("post", "pre"),
    "norm": ("layer",),
    "embedding_norm": (False,),
    "encoder_norm": (None,),
    "decoder_norm": (None,),
    "decoder_feed_norm": (True,),
    "activation": ("relu", "gelu"),
    "d_key": (None,),
    "d_value": (None,),
    "projections": (True,),
    "attention_scale": ("sqrt",),
    "attention_bias": ("all",),
    "positions": ("sinusoidal", "learned"),
    "source_positions": (False,),
    "sinusoids": ("interleaved",),
    "tied": ("all",),
    "output_bias": (False,),
    "scaled_embeddings": (True, False),
    "pooling": ("mean", "max"),
}
"""The choices of a model that the engine makes: `READ` of engine/config.js."""

POLICY = (
    "default-src 'none'; script-src 'unsafe-inline' 'wasm-unsafe-eval'; worker-src blob:; "
    "style-src 'unsafe-inline'; img-src data: blob:; font-src data:"
)
"""The engine is WebAssembly in a worker of the page's own, which has the page's policy: a worker
from a file would have none, as plain hosts send none. A folder asks its own host for weights."""


class SiteError(Refusal):
    """A page cannot be made; says so in one sentence."""


@dataclass(frozen=True)
class Site:
    """A page that was written."""

    folder: Path
    files: Mapping[str, int]
    """Name -> bytes."""


def build(
    checkpoints: Sequence[Checkpoint], out: Path, words: Mapping[str, Any], one_file: bool = False
) -> Site:
    """Write a page in which these checkpoints answer, the first one unless another is chosen.

    out: a folder, or with `one_file` a file that ends in .html. words: the sentences of the page.
    Raises SiteError, CheckpointError, and OSError.
    """
    if not checkpoints:
        raise SiteError("There is no checkpoint to answer: name one with --checkpoint.")
    for each in checkpoints:
        if why := not_read(each):
            raise SiteError(f"{each.name} cannot answer in a page: {why}.")
    files: dict[str, bytes] = {}
    elements: dict[str, str] = {}
    models = [_model(each, files, elements, one_file) for each in checkpoints]
    kernel = (HERE / "engine" / "kernel.wasm").read_bytes()
    for model in models:
        model["files"]["kernel"] = b64encode(kernel).decode()
    page = _page(checkpoints, models, words, elements, one_file)
    if one_file:
        write_whole(out, page)
        return Site(out.parent, {out.name: len(page)})
    for name, content in (files | {"index.html": page}).items():
        (out / name).parent.mkdir(parents=True, exist_ok=True)
        write_whole(out / name, content)
    for each in checkpoints:
        shutil.copy(Path(each.path) / "card.md", out / "weights" / f"{each.name}.card.md")
    written = {str(it.relative_to(out)): it.stat().st_size for it in out.rglob("*") if it.is_file()}
    return Site(out, written)


def not_read(checkpoint: Checkpoint) -> str:
    """Say why the engine cannot run a checkpoint, to end a sentence; empty: it can."""
    config = checkpoint.config
    if not (Path(checkpoint.path) / FILES["model"]).is_file() or not isinstance(
        config, ModelConfig
    ):
        return "the page's engine runs models that were trained here"
    for name, values in READ.items():
        if getattr(config, name) not in values:
            own = " and ".join(map(str, values))
            return f"its {name} is {getattr(config, name)}, and the engine has {own} only"
    if config.d_model % (16 * config.n_heads):
        most = f"its d_model is {config.d_model}, its n_heads {config.n_heads}"
        return f"{most}, and the engine needs heads of a multiple of 16 dimensions"
    if config.d_ff % 4:
        return f"its d_ff is {config.d_ff}, and the engine needs a multiple of 4"
    if checkpoint.about.tokenizer not in TOKENIZERS:
        those = ", ".join(TOKENIZERS)
        return f"its tokenizer is {checkpoint.about.tokenizer}, and the engine reads {those}"
    return ""


def _model(
    checkpoint: Checkpoint, files: dict[str, bytes], elements: dict[str, str], one_file: bool
) -> dict[str, Any]:
    """All that the page knows of a checkpoint; its files are added to those of the page."""
    about, name = checkpoint.about, checkpoint.name
    parts: dict[str, Any] = {}
    n_bytes = 0
    named = {**FILES, "tokenizer": TOKENIZERS[about.tokenizer]}
    for what, file in named.items():
        if not file:
            continue
        content = (Path(checkpoint.path) / file).read_bytes()
        n_bytes += len(content)
        if one_file:
            elements[f"file-{name}-{what}"] = b64encode(content).decode()
            parts[what] = {"element": f"file-{name}-{what}"}
        else:
            parts[what] = _parts(name, file, content, files)
    _, recording, _ = _example(checkpoint, about.examples[0])
    usual = usual_certainty(checkpoint.path)
    if usual is not None and not is_marked(checkpoint.path, usual.fingerprint):
        usual = None  # it was trained anew
    return {
        "name": name,
        "title": about.title,
        "label": f"{name} · {about.title}",
        "bytes": n_bytes,
        "files": parts,
        "config": json.loads((Path(checkpoint.path) / "config.json").read_text("utf-8")),
        "usual": None if usual is None else {"n": usual.n_sentences, "least": dict(usual.least)},
        "tables": tables(checkpoint),
        "examples": list(about.examples),
        "opens_at": list(_opens_at(checkpoint)),
        "reads": checkpoint.family.reads,
        "side": side_read(checkpoint),
        "hasCards": "cross" in recording.attentions,
        "edits": _edit_texts(recording, side_read(checkpoint)),
        "special": about.special or "shown",
        "methods": [[it, decoding_methods()[it].title] for it in _methods(checkpoint)],
        "unoffered": _unoffered(checkpoint),
        "kinds": {
            kind: {"title": kind_title(kind), "n_layers": it.n_layers, "n_heads": it.n_heads}
            for kind, it in recording.attentions.items()
        },
    }


def _methods(checkpoint: Checkpoint) -> list[str]:
    """The methods of the page for it, the first one chosen first: its own, if the engine has it."""
    if not checkpoint.family.decodes:
        return []
    own = default_method(checkpoint.family.reads)
    first = own if own in METHODS else "greedy"
    return sorted(METHODS, key=lambda each: each != first)


def _unoffered(checkpoint: Checkpoint) -> str:
    """The title of the method that the app begins with, where the engine has it not."""
    own = default_method(checkpoint.family.reads)
    is_here = own in METHODS or not checkpoint.family.decodes
    return "" if is_here else decoding_methods()[own].title


def _opens_at(checkpoint: Checkpoint) -> tuple[str, int, int]:
    return checkpoint.about.opens_at or ([*checkpoint.family.attentions][-1], 0, 0)


def _parts(
    name: str, file: str, content: bytes, files: dict[str, bytes]
) -> list[dict[str, str | int]]:
    """A file in parts; the name of each says what is in it, so that a browser may keep it."""
    parts: list[dict[str, str | int]] = []
    for number, start in enumerate(range(0, len(content), PART)):
        part = content[start : start + PART]
        mark = sha256(part).hexdigest()[:16]
        path = f"weights/{name}.{Path(file).stem}.{number}.{mark}.bin"
        files[path] = part
        parts.append({"path": path, "bytes": len(part), "digest": mark})
    return parts


def _page(
    checkpoints: Sequence[Checkpoint],
    models: Sequence[Mapping[str, Any]],
    words: Mapping[str, Any],
    elements: Mapping[str, str],
    one_file: bool,
) -> bytes:
    first = checkpoints[0]
    examples = [_example(first, text) for text in first.about.examples]
    drawn = [*models[0]["tables"]["themes"]["light"]["heads"], "change_offer", "word_card"]
    components = {name: Component(name) for name in drawn}
    content = {
        "models": models,
        "words": words,
        "fields": fields(),
        "ofText": of_text(),
        "opening": sorted(PICTURE),
        "components": {name: {"html": it.html, "css": it.css} for name, it in components.items()},
        "variables": {theme.name: theme.variables for theme in (LIGHT, DARK)},
        "recorded": [_recorded(first, *each) for each in examples],
    }
    worker = f"({bundle(HERE / 'page' / 'worker.js').script})(self);"
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
            "style": _typeface() + (HERE / "page" / "page.css").read_text("utf-8"),
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


def _icon() -> str:
    return b64encode((HERE.parent / "ui" / "icon.svg").read_bytes()).decode()


def _card(checkpoint: Checkpoint) -> str:
    text = (Path(checkpoint.path) / "card.md").read_text("utf-8")
    return f"<h3>{html.escape(checkpoint.name)}</h3><pre>{html.escape(text)}</pre>"


def _typeface() -> str:
    file = HERE.parent / "server" / "typefaces" / "SourceSansVF-Upright.woff2"
    content = b64encode(file.read_bytes()).decode()
    return (
        '@font-face { font-family: "Source Sans"; font-weight: 200 900; '
        f'src: url(data:font/woff2;base64,{content}) format("woff2"); }}\n'
    )


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


Example = tuple[str, Recording, Decoding | None]


def _example(checkpoint: Checkpoint, text: str) -> Example:
    methods = _methods(checkpoint)
    decoding = decode(checkpoint, text, methods[0]) if methods else None
    return text, record(checkpoint, text, decoding.target if decoding else None), decoding


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
    kind, layer, _ = _opens_at(checkpoint)
    reading = Reading(words=True, special=about.special or "shown")
    return [
        TokenRows(TITLES[checkpoint.family.reads]),
        HeadGrid(tuple(checkpoint.family.attentions), reading),
        HeadView(kind, layer, reading),
    ]


def _edit_texts(recording: Recording, side: str) -> dict[str, Any]:
    """Return how `edit_text` says edits, with names in braces for what differs."""
    heads, off = {}, " off"
    for kind, attention in recording.attentions.items():
        for layer in range(attention.n_layers):
            for head in range(attention.n_heads):
                text = edit_text(Edit("head-off", kind, (layer, head)), recording)
                heads[f"{kind}.{layer}.{head}"] = text.removesuffix(off)
    word = recording.source_words[0].text
    hide = edit_text(Edit("hide", side, (0,)), recording)
    return {
        "heads": heads,
        "off": f"{{where}}{off}",
        "cut": "{where}: {query} ↛ {key}",
        "hide": "{word}".join(hide.rsplit(word, 1)),
    }
