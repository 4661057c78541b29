"""The chat templates of a folder, by name: of its tokenizer's settings, or of files of their own.

Those in files count alone, as for the library; one that is damaged is left out and named.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from transformer.checkpoint import CheckpointError
from transformer.files.foreign_file import read_file
from transformer.files.foreign_text import clean, some_of
from transformer.files.json_file import read_json

SETTINGS, USUAL = "tokenizer_config.json", "chat_template.jinja"
TEMPLATES = "additional_chat_templates/*.jinja"
DEFAULT = "default"
LARGEST = 2**24
"""Bytes of a file that is read: a longer template is not rendered either."""


def templates_of(path: Path) -> dict[str, str]:
    """Name -> template, the usual one being "default"; empty where there is none."""
    texts = {name: text for name, text in _entries(path) if name and isinstance(text, str)}
    return {name: text for name, text in texts.items() if text.strip()}


def template_notes(path: Path) -> Iterator[str]:
    """A sentence for the templates that are left out, where there are some."""
    lost = [name or "one without a name" for name, text in _entries(path) if not (name and text)]
    if lost:
        yield f"Of its chat templates {some_of(lost, 4)}: left out, as it holds no text in UTF-8."


@contextmanager
def without_damaged(path: Path) -> Iterator[Path]:
    """Give a folder that the library reads: it takes none with a template that it cannot decode.

    That is the folder itself, or one of links to its files that lies there for as long as needed.
    """
    if not any(text is None for _, text in _files(path)):
        yield path
        return
    with TemporaryDirectory() as folder:
        for file in path.iterdir():
            if file.is_file() and file.name != USUAL:
                (Path(folder) / file.name).symlink_to(file.absolute())
        yield Path(folder)


def _entries(path: Path) -> list[tuple[str, str | None]]:
    """Names with templates, either being empty where it is damaged."""
    files = _files(path)
    if files:
        return files
    try:
        value = read_json(path / SETTINGS).get("chat_template")
    except (CheckpointError, AttributeError):  # the library names what is wrong with it
        return []
    return [(name, text if isinstance(text, str) else None) for name, text in _named(value)]


def _files(path: Path) -> list[tuple[str, str | None]]:
    files = [(DEFAULT, path / USUAL)] if (path / USUAL).is_file() else []
    files += [(file.stem, file) for file in sorted(path.glob(TEMPLATES))]
    return [(clean(name), _text(file)) for name, file in files]


def _named(value: Any) -> Iterator[tuple[str, Any]]:
    """The entries of a setting: a template, a table of them, or a list with their names."""
    if isinstance(value, dict):
        yield from ((clean(name), text) for name, text in value.items())
    elif isinstance(value, list):
        for each in value:
            entry = each if isinstance(each, dict) else {}
            yield clean(entry.get("name") or ""), entry.get("template")
    elif value is not None:
        yield DEFAULT, value


def _text(file: Path) -> str | None:
    try:
        return read_file(file, LARGEST).decode()
    except (CheckpointError, ValueError):
        return None
