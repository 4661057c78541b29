"""Browser files that import what they use, put together as one script and one style.

Streamlit takes one text per component, so imports are followed here, without a build step. Each
file becomes a function that receives what it imports and returns what it exports: what it keeps to
itself may have any name, as in the browser's own modules, and the same file works in Node.
"""

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from transformer.refusal import Refusal

_IMPORT = re.compile(r'^import \{([^}]*)\} from "([^"]+)";\n', re.M)
_DEFINED = re.compile(r"^(export )?(?:async )?(?:function|const|let|class) (\w+)", re.M)
_EXPORT = re.compile(r"^export (?=(?:async )?function |const \w|class )", re.M)
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
