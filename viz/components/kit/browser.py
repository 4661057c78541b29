"""The way of every component to the browser: its files, put together as one script and one
style.
"""

import json
import re
import struct
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import blake2b
from itertools import takewhile
from operator import index
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from transformer.refusal import Refusal, visible
from transformer.token import Token
from transformer.words import SPACES, characters, word_groups
from viz.glossary import cards
from viz.labels import label, unmarked_label
from viz.theme import Theme

# Browser files that import what they use, put together as one script and one style.
#
# Streamlit takes one text per component, so imports are followed here, without a build step. Each
# file becomes a function that receives what it imports and returns what it exports: what it keeps
# to itself may have any name, as in the browser's own modules, and the same file works in Node.

_IMPORT = re.compile(r'^import \{([^}]*)\} from "([^"]+)";\n', re.M)
_DEFINED = re.compile(r"^(export )?(?:async )?(?:function\*?|const|let|class) (\w+)", re.M)
_EXPORT = re.compile(r"^export (?=(?:async )?function\*? |const \w|class )", re.M)
_FOR_READERS = re.compile(r"""^[ \t]*//.*\n|^[ \t]+|^\n|[ \t]+// [^"'`\n]*$""", re.M)
"""Comments, indents and empty lines: a fifth of a script, of no use to a browser."""
_FOR_READERS_OF_STYLE = re.compile(r"/\*.*?\*/\n?|^[ \t]+|^\n", re.M | re.S)
_OTHER = re.compile(r"^(?:import|export)\b.*", re.M)


class ModuleError(Refusal):
    """A file imports what it cannot have; says so in one sentence."""


@dataclass(frozen=True)
class Bundle:
    """A file and all that it imports."""

    script: str
    """An expression: the file's default export."""
    style: str
    """The .css beside each of the files, under the same name."""


@dataclass(frozen=True)
class _Module:
    path: Path
    imports: dict[Path, list[str]]
    exports: list[str]
    body: str


@cache
def bundle(entry: Path) -> Bundle:
    """Follow the imports of a file. Raises ModuleError."""
    modules: dict[Path, _Module] = {}
    _collect(entry.resolve(), modules, ())
    numbers = {path: f"${number}" for number, path in enumerate(modules)}
    functions = [_function(module, numbers) for module in modules.values()]
    script = "\n".join(
        ["(() => {", *functions, f"return {numbers[entry.resolve()]}.$default;", "})()"]
    )
    styles = [path.with_suffix(".css") for path in modules]
    style = "\n".join(_read(file) for file in styles if file.exists())
    return Bundle(script, _FOR_READERS_OF_STYLE.sub("", style))


@cache
def shared(entries: tuple[Path, ...]) -> str:
    """A module of several entries: it exports a function for each, by the name of its folder.

    The text of what they import is there once. Each entry makes all of it anew, as in `bundle`:
    what a file keeps is of one entry. Raises ModuleError.
    """
    modules: dict[Path, _Module] = {}
    for entry in entries:
        _collect(entry.resolve(), modules, ())
    makers = {path: f"make{number}" for number, path in enumerate(modules)}
    numbers = {path: f"${number}" for number, path in enumerate(modules)}
    lines = [f"const {makers[path]} = {_maker(module)};" for path, module in modules.items()]
    for entry in entries:
        own: dict[Path, _Module] = {}
        _collect(entry.resolve(), own, ())
        parts = [f"const {_made(module, makers[path], numbers)}" for path, module in own.items()]
        default = f"return {numbers[entry.resolve()]}.$default;"
        head = f"export const {entry.parent.name} = () => {{"
        lines.append("\n".join([head, *parts, default, "};"]))
    return "\n".join(lines)


def _collect(path: Path, modules: dict[Path, _Module], above: tuple[Path, ...]) -> None:
    """Put a file behind all that it needs."""
    if path in above:
        circle = " -> ".join(each.name for each in (*above[above.index(path) :], path))
        raise ModuleError(f"Browser files import each other in a circle: {circle}.")
    if path in modules:
        return
    module = _module(path)
    for other, names in module.imports.items():
        _collect(other, modules, (*above, path))
        for name in names:
            if name not in modules[other].exports:
                raise ModuleError(
                    f"{_name(path)} imports {name}, but {_name(other)} does not export it."
                )
    modules[path] = module


def _module(path: Path) -> _Module:
    text = _read(path)
    imports: dict[Path, list[str]] = {}
    names = [name for _, name in _DEFINED.findall(text)]
    for names_text, file in _IMPORT.findall(text):
        other = (path.parent / file).resolve()
        if not other.is_file():
            raise ModuleError(f"{_name(path)} imports {file}, but there is no such file.")
        imported = [name.strip() for name in names_text.split(",") if name.strip()]
        imports.setdefault(other, []).extend(imported)
        names += imported
    for name in names:
        if names.count(name) > 1:
            raise ModuleError(f"{_name(path)} has {name} twice: defined or imported.")
    body = _IMPORT.sub("", text).replace("\nexport default ", "\nconst $default = ", 1)
    body = _EXPORT.sub("", body)
    if match := _OTHER.search(body):
        raise ModuleError(
            f'{_name(path)} says “{match[0]}”: write import {{ … }} from "…"; on its own line, '
            "or export before a function, const or class."
        )
    return _Module(path, imports, [name for export, name in _DEFINED.findall(text) if export], body)


def _function(module: _Module, numbers: dict[Path, str]) -> str:
    return f"const {_made(module, _maker(module), numbers)}"


def _made(module: _Module, maker: str, numbers: dict[Path, str]) -> str:
    """Name what a module exports: its maker is given what it imports."""
    values = ", ".join(numbers[other] for other in module.imports)
    return f"{numbers[module.path]} = {maker}({values});"


def _maker(module: _Module) -> str:
    """A function from what a module imports to what it exports."""
    arguments = ", ".join(f"{{ {', '.join(names)} }}" for names in module.imports.values())
    returned = ["$default"] if "\nconst $default = " in module.body else []
    return (
        f"(({arguments}) => {{\n{_FOR_READERS.sub('', module.body)}"
        f"return {{ {', '.join(returned + module.exports)} }};\n}})"
    )


def _read(file: Path) -> str:
    return file.read_text(encoding="utf-8")


def _name(path: Path) -> str:
    return f"{path.parent.name}/{path.name}"


# A JSON header and arrays in one `bytes`: the one form that reaches the browser without base64.
#
# Layout: u32 length of the JSON | JSON | zeros to a multiple of 8 | the arrays, each padded
# likewise. The JSON is {"header": ..., "arrays": [{"dtype", "shape", "offset"}]}; offsets count
# from the first array. unpack.js reads the same in the browser.

DTYPES = ("|u1", "<u2", "<i4", "<f4")
"""Types of numbers that unpack.js can read."""
_ALIGNMENT = 8


def pack(header: Mapping[str, Any], *arrays: NDArray[Any]) -> bytes:
    """Header (JSON values) and arrays (dtypes u1, u2, i4, f4) as bytes.

    Raises TypeError for another dtype, and ValueError for NaN or infinity in the header: JSON has
    neither.
    """
    entries, bodies, offset = [], [], 0
    for array in arrays:
        if array.dtype.str not in DTYPES:
            raise TypeError(f"arrays of {array.dtype} cannot be packed; known: {', '.join(DTYPES)}")
        entries.append({"dtype": array.dtype.str, "shape": list(array.shape), "offset": offset})
        bodies.append(_padded(np.ascontiguousarray(array).tobytes()))
        offset += len(bodies[-1])
    text = json.dumps(
        {"header": header, "arrays": entries},
        separators=(",", ":"),
        ensure_ascii=False,
        allow_nan=False,
        default=index,  # a whole number of numpy's
    ).encode()
    return _padded(struct.pack("<I", len(text)) + text) + b"".join(bodies)


def unpack(payload: bytes) -> tuple[dict[str, Any], list[NDArray[Any]]]:
    """Undo `pack`: return the header and the arrays, which are read-only."""
    (length,) = struct.unpack_from("<I", payload)
    content = json.loads(payload[4 : 4 + length])
    start = 4 + length + -(4 + length) % _ALIGNMENT
    return content["header"], [
        np.frombuffer(
            payload, entry["dtype"], int(np.prod(entry["shape"])), start + entry["offset"]
        ).reshape(entry["shape"])
        for entry in content["arrays"]
    ]


def _padded(body: bytes) -> bytes:
    return body + b"\0" * (-len(body) % _ALIGNMENT)


# The way of every component to the browser: its files, colours and pieces.
#
# A component's script is its index.js with all that this imports: one text, no build step.

_FOLDER = Path(__file__).parents[1]


@dataclass(frozen=True)
class Component:
    """All that the browser needs to draw: the same in the app and in a page of its own."""

    name: str
    """The name of its folder, too, in which index.js stands."""

    @property
    def script(self) -> str:
        """A function that is called with { data, parentElement, setTriggerValue }."""
        return self._bundle.script

    @property
    def js(self) -> str:
        """A module whose default export is the script."""
        return f"export default {self.script};\n"

    @property
    def css(self) -> str:
        return self._bundle.style

    @property
    def _bundle(self) -> Bundle:
        return bundle(_FOLDER / self.name / "index.js")

    @property
    def class_name(self) -> str:
        """The class of the element that it draws into."""
        return f"headscope {self.name.replace('_', '-')}"

    @property
    def html(self) -> str:
        """Its element, and the cards of the words in it."""
        return f'<div class="{self.class_name}"></div>{cards(self.name)}'


def pieces(tokens: Iterable[Token]) -> list[tuple[str, int]]:
    """Label and whether special (1) or not (0), for each token."""
    return [(label(token), int(token.special)) for token in tokens]


def pieces_of_words(tokens: Sequence[Token], words: bool = False) -> list[tuple[str, int, int]]:
    """The same, and 1 where a word begins with it, else 0.

    words: they are drawn as the words that they make: without the sign of a space and those that
    join pieces, with 2 for a piece that is nothing but the space before its word, and with bytes as
    the characters that they spell: the last byte of one has it, and the label of those before it is
    empty.
    """
    groups = word_groups(tokens)
    begins = {group[0]: 1 for group in groups}
    if not words:
        return [(*piece, begins.get(i, 0)) for i, piece in enumerate(pieces(tokens))]
    texts = list(map(unmarked_label, tokens))
    for group in groups:
        if len(group) > 1:
            spelled = characters([tokens[i] for i in group])
            for i, text in zip(group, spelled, strict=True):
                texts[i] = visible(text.removeprefix("▁")) if tokens[i].has_bytes else texts[i]
        spaces = takewhile(lambda i: not tokens[i].piece.strip(SPACES), group[:-1])
        begins |= dict.fromkeys(spaces, 2)
    return [(texts[i], int(it.special), begins.get(i, 0)) for i, it in enumerate(tokens)]


def palette(theme: Theme) -> dict[str, Any]:
    """The colours that the scripts draw with."""
    names = ("name", "background", "surface", "text", "dim", "grid", "accent", "masked")
    return {name: getattr(theme, name) for name in names} | {"scale": theme.attention_scale}


def envelope(payload: bytes, theme: Theme, **state: Any) -> bytes:
    """A payload with what may change while it stays the same.

    The nonce lets the browser see that a payload is the one it has already drawn. Streamlit takes
    bytes only alone, not within a dict; so the whole is packed once more.
    """
    header = {"nonce": digest(payload), "palette": palette(theme), **state}
    return pack(header, np.frombuffer(payload, np.uint8))


def digest(content: bytes) -> str:
    """A short name of a content."""
    return blake2b(content, digest_size=8).hexdigest()


# Scripts of components as files: a browser keeps them, and they come compressed.
#
# Within an element, as Streamlit sends them, they come whole with each session: 320 kB for the
# first screen, of which most are the same parts again and again.

AT = "scripts"
"""Their place below the app's own."""
FIRST = (
    "address",
    "change_offer",
    "figure_drop",
    "head_grid",
    "head_view",
    "scene_fit",
    "token_rows",
    "tour",
    "word_card",
)
"""Components of the first screen: in a file of their own, which is small."""
SERVED = {"is_so": False}
"""True once this process answers at their place; elsewhere scripts come within elements."""


@cache
def script_files() -> dict[str, bytes]:
    """Name -> content of both files."""
    entries = sorted(_FOLDER.glob("*/index.js"))
    first = tuple(entry for entry in entries if entry.parent.name in FIRST)
    others = tuple(entry for entry in entries if entry.parent.name not in FIRST)
    return {name: shared(of).encode() for name, of in (("first", first), ("others", others))}


def script_address(name: str) -> str:
    """The address of a file, relative to any page of the app; another one for another content."""
    digest = blake2b(script_files()[name], digest_size=4).hexdigest()
    return f"./{AT}/{name}.js?{digest}"


def module_of(component: Component) -> str:
    """A module whose default export is the component's script."""
    if not SERVED["is_so"]:
        return component.js
    address = script_address("first" if component.name in FIRST else "others")
    return (
        f"const file = await import(new URL({address!r}, document.baseURI).href);\n"
        f"export default file.{component.name}();\n"
    )
