"""A stranger's YAML, read by PyYAML: one map of names and values, or maps within maps.

Its events are read, as `BaseLoader` resolves none of them to anything but text. Nothing is
composed of them: libyaml's composer follows every bracket down the stack, and a file of 100,000
brackets ends the process.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from transformer.extras import require
from transformer.files.foreign_text import clean

require("yaml")  # whoever imports this module is about to read YAML
import yaml  # noqa: E402

LOADER = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
"""libyaml's where it is there: 18 times as fast."""


DEEPEST, MOST_NESTED = 20, 1_000
"""Maps and lists within each other that are read, and that are passed over: what libyaml takes
grows with the square of the brackets that are open, to half a minute for 100,000."""


def yaml_leaves(text: str) -> Iterator[tuple[str, str]]:
    """Path and text of each plain value, in order, at any depth; items of a list by their number.

    Raises ValueError, which says the line, for what is not YAML, or too deep.

    >>> list(yaml_leaves("model: {layers: 6, heads: [4, 8]}"))
    [('model.layers', '6'), ('model.heads.0', '4'), ('model.heads.1', '8')]
    """
    with _in_a_sentence(text):
        yield from _leaves(text)


def yaml_pairs(text: str) -> Iterator[tuple[str, str | None, int]]:
    """Name, value and line of each entry, in order; None for a value that is not a plain text.

    Raises ValueError, which says the line, for what is not a map or not YAML.

    >>> list(yaml_pairs("</s>: 0\\n'it''s': [1, 2]"))
    [('</s>', '0', 1), ("it's", None, 2)]
    """
    with _in_a_sentence(text):
        yield from _entries(text)


@contextmanager
def _in_a_sentence(text: str) -> Iterator[None]:
    try:
        yield
    except yaml.MarkedYAMLError as error:
        line = 1 + error.problem_mark.line if error.problem_mark else 1
        raise ValueError(f"line {line} is not YAML: {clean(error.problem)}") from error
    except yaml.reader.ReaderError as error:
        line = 1 + text.count("\n", 0, error.position)
        message = f"line {line} holds the character U+{error.character:04X}"
        raise ValueError(f"{message}, which YAML does not allow") from error


@dataclass
class _Open:
    """A map or a list that is being read."""

    path: str
    is_map: bool
    name: str | None = None
    n_items: int = 0

    def next_path(self) -> str:
        """Return the path of the value that comes now."""
        name = self.name if self.is_map else str(self.n_items)
        self.name, self.n_items = None, self.n_items + 1
        return f"{self.path}.{name}".removeprefix(".")


def _leaves(text: str) -> Iterator[tuple[str, str]]:
    stack: list[_Open] = []
    for event in yaml.parse(text, Loader=LOADER):
        line = event.start_mark.line + 1
        if isinstance(event, yaml.CollectionEndEvent):
            stack.pop()
        if not isinstance(event, yaml.NodeEvent):
            continue
        value = event.value if isinstance(event, yaml.ScalarEvent) else None
        top = stack[-1] if stack else None
        if top is not None and top.is_map and top.name is None:
            if value is None:
                raise ValueError(f"line {line} has a name that is not a text")
            top.name = value
            continue
        path = top.next_path() if top is not None else ""
        if value is not None:
            yield path, value
        elif isinstance(event, yaml.CollectionStartEvent):
            if len(stack) == DEEPEST:
                raise ValueError(f"line {line} is more than {DEEPEST} maps and lists deep")
            stack.append(_Open(path, isinstance(event, yaml.MappingStartEvent)))


def _entries(text: str) -> Iterator[tuple[str, str | None, int]]:
    name: str | None = None
    depth = 0
    for event in yaml.parse(text, Loader=LOADER):
        line = event.start_mark.line + 1
        if isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        elif isinstance(event, yaml.NodeEvent):
            value = event.value if isinstance(event, yaml.ScalarEvent) else None
            if depth == 0 and not isinstance(event, yaml.MappingStartEvent):
                raise ValueError(f"line {line} is not a name with its value")
            if depth == 1 and name is None:
                if value is None:
                    raise ValueError(f"line {line} has a name that is not a text")
                name = value
            elif depth == 1 and name is not None:
                yield name, value, line
                name = None
            depth += isinstance(event, yaml.CollectionStartEvent)
            if depth > MOST_NESTED:
                raise ValueError(f"line {line} is more than {MOST_NESTED:,} maps and lists deep")
