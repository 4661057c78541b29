"""Checkpoints that answer in a page without a server: what it knows of them, and their files."""

import json
from base64 import b64encode
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from transformer import Checkpoint, Decoding, Recording, decode, record
from transformer.config import ModelConfig
from transformer.corpus.usual_certainty import usual_certainty
from transformer.decoding import decoding_methods, default_method
from transformer.editing.checking import side_read
from transformer.edits import Edit
from transformer.fingerprint import is_marked
from transformer.refusal import Refusal
from viz.components.kit.browser import bundle
from viz.edit_words import edit_text
from viz.labels import kind_title
from viz.live.tables import tables

HERE = Path(__file__).parent
PART = 16 * 2**20
"""Bytes of a part of a file of weights: hosts take files of 25 MiB (Cloudflare Pages)."""
METHODS = ("beam", "greedy")
"""Decoding methods that the engine has; the others are in the app."""
POLICY = (
    "default-src 'none'; script-src 'unsafe-inline' 'wasm-unsafe-eval'; worker-src blob:; "
    "style-src 'unsafe-inline'; img-src data: blob:; font-src data:"
)
"""The engine is WebAssembly in a worker of the page's own, which has the page's policy: a worker
from a file would have none, as plain hosts send none. A folder asks its own host for weights."""
SAYS = {
    "sentence": "Sentence",
    "placeholder": "Type a sentence",
    "empty": "Type a sentence: what is shown is the last answer.",
    "answers": "{model} answers, in this browser. Nothing that you type leaves it.",
    "again": "Try again",
    "fetch": "Let {chosen} answer ({of} MB)",
}
"""Sentences of every page in which an engine answers: around its field, and of who answers."""
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


class SiteError(Refusal):
    """A page cannot be made; says so in one sentence."""


def models_of(
    checkpoints: Sequence[Checkpoint], one_file: bool
) -> tuple[list[dict[str, Any]], dict[str, bytes], dict[str, str]]:
    """Return what a page knows of each checkpoint; files by their paths beside the page, of a
    folder; and texts by the names of the elements that hold them, of one file.

    Raises SiteError, where the engine does not run one of them.
    """
    for each in checkpoints:
        if why := not_read(each):
            raise SiteError(f"{each.name} cannot answer in a page: {why}.")
    files: dict[str, bytes] = {}
    elements: dict[str, str] = {}
    models = [_model(each, files, elements, one_file) for each in checkpoints]
    kernel = (HERE / "engine" / "kernel.wasm").read_bytes()
    for model in models:
        model["files"]["kernel"] = b64encode(kernel).decode()
    return models, files, elements


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
    _, recording, _ = example(checkpoint, about.examples[0])
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
        "opens_at": list(opens_at(checkpoint)),
        "reads": checkpoint.family.reads,
        "side": side_read(checkpoint),
        "hasCards": "cross" in recording.attentions,
        "edits": _edit_texts(recording, side_read(checkpoint)),
        "special": about.special or "shown",
        "methods": [[it, decoding_methods()[it].title] for it in methods_of(checkpoint)],
        "unoffered": _unoffered(checkpoint),
        "kinds": {
            kind: {"title": kind_title(kind), "n_layers": it.n_layers, "n_heads": it.n_heads}
            for kind, it in recording.attentions.items()
        },
    }


def size_of(checkpoint: Checkpoint) -> int:
    """Return the bytes of its weights."""
    return (Path(checkpoint.path) / FILES["model"]).stat().st_size


def methods_of(checkpoint: Checkpoint) -> list[str]:
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


def opens_at(checkpoint: Checkpoint) -> tuple[str, int, int]:
    """Return the kind, layer and head that are large when nobody has chosen any."""
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


def worker_script() -> str:
    """The code of the worker, which opens a checkpoint and answers texts."""
    return worker_of(HERE / "page" / "worker.js")


def worker_of(file: Path) -> str:
    """The code of a worker whose default export serves a page."""
    return f"({bundle(file).script})(self);"


Example = tuple[str, Recording, Decoding | None]


def example(checkpoint: Checkpoint, text: str) -> Example:
    """Return a text as the page answers it first."""
    methods = methods_of(checkpoint)
    decoding = decode(checkpoint, text, methods[0]) if methods else None
    return text, record(checkpoint, text, decoding.target if decoding else None), decoding


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
