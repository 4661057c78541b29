"""The name that a folder has for itself: on its card, or in its configuration."""

import re
from pathlib import Path

from transformer.checkpoint import CONFIG, CheckpointError
from transformer.files.foreign_file import read_file
from transformer.files.foreign_text import clean
from transformer.files.json_file import read_json
from transformer.hugging_face.pooling import pipeline_of

CARD = "README.md"
LARGEST = 2**20
"""Bytes of a card that is looked through for its heading."""
LONGEST = 80
"""Characters of a name at most: a longer heading is a sentence."""
_USUAL = re.compile(
    r"(my_?|best_?|final_?|the_?)?(model|models|checkpoint|output|outputs|out|save[d]?|export|best|"
    r"final|last|latest|snapshot|0_transformer)([-_. ]?\d+)?|[0-9a-f]{7,40}|step[-_]?\d+|\d+",
    re.IGNORECASE,
)
_TEMPLATE = ("{", "model card", "model id", "<", "[", "readme", "about", "introduction", "usage")
_CACHED = re.compile(r"models--(?:[^/]+?--)?(?P<name>[^/]+)")


def own_name(path: Path) -> str:
    """Name a folder whose own name says nothing: "model", a number, a commit; else "".

    By the hub's cache that it lies in, its card's heading, or what its configuration says that it
    was loaded from.
    """
    pipeline = pipeline_of(path)
    if pipeline != path:
        return own_name(pipeline) or pipeline.name
    if not _USUAL.fullmatch(path.name):
        return ""
    return _of_cache(path) or _of_card(path) or _of_config(path)


def _of_cache(path: Path) -> str:
    """The repository of a folder that the hub's library fetched: models--org--name/snapshots/…"""
    match = _CACHED.fullmatch(path.parent.parent.name)
    return _fit(match["name"]) if match and path.parent.name == "snapshots" else ""


def _of_card(path: Path) -> str:
    """The first heading outside the settings above a card and its blocks of code."""
    try:
        text = read_file(path / CARD, LARGEST).decode("utf-8", "replace")
    except CheckpointError:
        return ""
    prose = re.sub(r"\A---\n.*?\n---\n|^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)
    heading = re.search(r"^# +(.+)$", prose, re.MULTILINE)
    name = _fit(heading[1]) if heading else ""
    return "" if name.lower().startswith(_TEMPLATE) else name


def _of_config(path: Path) -> str:
    """The library's own configuration holds the folder's path instead."""
    try:
        name = read_json(path / CONFIG).get("_name_or_path")
    except (CheckpointError, AttributeError):
        return ""
    last = _fit(re.split(r"[/\\]", name.rstrip("/\\"))[-1]) if isinstance(name, str) else ""
    return "" if _USUAL.fullmatch(last) else last


def _fit(text: str) -> str:
    name = clean(re.sub(r"[`*]|\[|\]\([^)]*\)", "", text)).strip()
    last = name.rpartition("/")[2] if " " not in name else name  # organisation/model
    return last if len(last) <= LONGEST else ""
