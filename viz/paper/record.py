"""The record of a figure: the screen that it was made of, and the tokens that its numbers are
about.
"""

import json
import platform
import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from binascii import Error as NotBase64
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any
from urllib.parse import parse_qsl

from transformer import __version__
from transformer.analysis.reading import AttentionMap
from transformer.analysis.tables import Sides
from transformer.files.tensor_files import BEGINNING, unpacked
from transformer.files.weights import Misfit
from transformer.refusal import Refusal
from viz.screen import FIRST_PAGE, Screen, link, parse

# The record of a figure: the screen that it was made of, the checkpoint, and the versions.
#
# It travels in the file's metadata as one word of ASCII, `headscope-figure:` and JSON in base64:
# the same in SVG, PDF and PNG, so that it is found by looking for it, and no file is parsed. Of a
# crate only that much is unpacked.

MARK = "headscope-figure:"
LONGEST = 2**16
"""Characters of the word: an address of some thousand characters, and a text."""
LARGEST = 2**26
"""Bytes of a file that is looked through, and of what a crate holds once it is unpacked."""
PACKAGES = ("torch", "transformers", "numpy", "matplotlib")
"""Packages whose versions are said, as far as they are installed."""
IN_CRATES = (".svg", ".pdf", ".png")
"""The endings of figures in a zip; viz/components/figure_drop/crate.js has the same."""
_WORD = re.compile(rb"headscope-figure:([A-Za-z0-9_-]{8,%d}={0,2})" % LONGEST)


class FigureError(Refusal):
    """A file that is not a figure of this app, or a figure that cannot be made."""


@dataclass(frozen=True)
class Record:
    """All texts; the address makes the figure again where the checkpoint is the same."""

    page: str
    query: str
    """The rest of the address, as viz/screen.py spells it."""
    checkpoint: str
    """The name as people read it."""
    sha256: str
    """The digest of the checkpoint's files; empty where it has none."""
    text: str
    written: str
    """The output of the model; empty where it writes nothing."""
    title: str
    caption: str
    versions: Mapping[str, str] = field(default_factory=dict)

    def with_law(self, law: str) -> "Record":
        """The same, whose caption ends with the law by which numbers become colours."""
        caption = self.caption.rstrip(".")
        return replace(self, caption=f"{caption}. {law}" if caption else law) if law else self

    @property
    def screen(self) -> Screen:
        return parse({**dict(parse_qsl(self.query, keep_blank_values=True)), "page": self.page})

    @property
    def link(self) -> str:
        """Relative to any page of the app."""
        return link(self.screen)

    @property
    def state(self) -> str:
        """The word that a file carries; empty where no checkpoint of the app made it."""
        if not self.checkpoint:
            return ""
        values = {each.name: getattr(self, each.name) for each in fields(self)}
        text = json.dumps({**values, "versions": dict(self.versions)}, sort_keys=True).encode()
        text += b" " * ((1 - len(text)) % 3)  # so it ends in "==", whatever byte a PNG has next
        return MARK + urlsafe_b64encode(text).decode()


def versions() -> dict[str, str]:
    """Return the versions of Python and of the packages that the numbers depend on."""
    numbers = {"headscope": __version__, "python": platform.python_version()}
    for package in PACKAGES:
        if number := _installed(package):
            numbers[package] = number
    return numbers


@cache
def _installed(package: str) -> str:
    """Return a package's version; empty: it is not there. To find it costs 3 ms, and each figure
    names ten."""
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def read_record(content: bytes, name: str = "This file") -> Record:
    """Read what a figure carries. name: of the file. Raises FigureError in a sentence."""
    if len(content) > LARGEST:
        n = f"{len(content):,}"
        raise FigureError(
            f"{name} has {n} bytes, and figures of Headscope have fewer: open another file."
        )
    match = _in_crate(content, name) if content.startswith(BEGINNING) else _WORD.search(content)
    if match is None:
        raise FigureError(
            f"{name} carries no state of Headscope: it is not one of its figures, or a program "
            "that saved it again has dropped what it carried. Open the file that was saved first."
        )
    try:
        word = match[1][: len(match[1]) // 4 * 4]  # the next byte may look like a part of it
        return _checked(json.loads(urlsafe_b64decode(word)))
    except (NotBase64, UnicodeDecodeError, ValueError, RecursionError) as error:
        raise FigureError(f"What {name} carries is damaged: save the figure again.") from error


def _in_crate(content: bytes, name: str) -> re.Match[bytes]:
    """The word of the first figure in a zip. Raises FigureError."""
    try:
        words = map(_WORD.search, unpacked(content, IN_CRATES, LARGEST))
        match = next((word for word in words if word), None)
    except Misfit as error:
        raise FigureError(
            f"{name} {error}: save the crate again, or unpack it and open the figure in it."
        ) from error
    if match is None:
        raise FigureError(
            f"{name} holds no figure of Headscope: give a ZIP that Figure as ZIP has saved, "
            "or a figure by itself."
        )
    return match


def _checked(content: object) -> Record:
    """Raises ValueError for anything but texts under their names."""
    names = {each.name for each in fields(Record)} - {"versions"}
    if not isinstance(content, dict) or not names <= set(content):
        raise ValueError("names are missing")
    versions = content.get("versions", {})
    if not isinstance(versions, dict):
        raise ValueError("versions are names and texts")
    texts = [*(content[name] for name in names), *versions, *versions.values()]
    if not all(isinstance(each, str) for each in texts):
        raise ValueError("everything is a text")
    if not re.fullmatch(r"[a-z0-9_]{1,40}", content["page"]):
        raise ValueError("a page has a plain name")
    return Record(**{name: content[name] for name in names}, versions=versions)


def address_of(text: str) -> Screen:
    """The Screen of an address that was copied: a whole one, or from the path on."""
    return parse(parts_of(text))


def parts_of(text: str) -> dict[str, str]:
    """Return the parts of such an address by the names of fields, its path as "page"."""
    path, _, query = text.strip().partition("?")
    page = path.rstrip("/").rpartition("/")[2] if path.count("/") != 2 else ""
    if not re.fullmatch(r"[\w%+-]{0,40}", page):
        page = ""
    query = query.partition("#")[0]
    return {**dict(parse_qsl(query, keep_blank_values=True)), "page": page or FIRST_PAGE}


# The tokens of the model's text that a row of a figure's numbers is about.

Facts = Mapping[str, Any]
Maps = Mapping[str, AttentionMap]
"""A kind of attention -> the map of it that is drawn."""


class Origins:
    """The maps whose cells are rows of a file: each says its tokens."""

    def __init__(self, maps: Maps) -> None:
        self.maps = maps
        self.sides = {kind: Sides(map.attention) for kind, map in maps.items()}
        self.sizes = {(len(each.rows), len(each.columns)) for each in maps.values()}

    def with_origins(self, row: Facts) -> dict[str, Any]:
        """The row with position, piece and word of its cell, whatever is hidden or merged."""
        (only,) = self.maps if len(self.maps) == 1 else ("",)
        kind = row.get("kind", only)
        if kind not in self.maps:
            return dict(row)
        map, sides, result = self.maps[kind], self.sides[kind], dict(row)
        query = row.get("row", row.get("strongest-row"))
        key = row.get("column", row.get("strongest-column"))
        if query is not None and query >= 0:
            result |= sides.query(*map.row_groups[query])
        if key is not None and key >= 0:
            result |= sides.key(*map.column_groups[key])
        return result

    def is_whole(self, facts: Facts) -> bool:
        """Tell whether rows and columns are counted one by one, not in blocks of a large map."""
        return "rows" not in facts or (facts["rows"], facts["columns"]) in self.sizes
