"""A stranger's YAML: the one map of names and values that such files are, read by PyYAML.

Its events are read, as `BaseLoader` resolves none of them to anything but text. Nothing is
composed of them: libyaml's composer follows every bracket down the stack, and a file of 100,000
brackets ends the process.
"""

from collections.abc import Iterator

import yaml

from transformer.files.foreign_text import shown

LOADER = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
"""libyaml's where it is there: 18 times as fast."""


def yaml_pairs(text: str) -> Iterator[tuple[str, str | None, int]]:
    """Name, value and line of each entry, in order; None for a value that is not a plain text.

    Raises ValueError, which says the line, for what is not a map or not YAML.

    >>> list(yaml_pairs("</s>: 0\\n'it''s': [1, 2]"))
    [('</s>', '0', 1), ("it's", None, 2)]
    """
    try:
        yield from _entries(text)
    except yaml.MarkedYAMLError as error:
        line = 1 + error.problem_mark.line if error.problem_mark else 1
        raise ValueError(f"line {line} is not YAML: {shown(error.problem)}") from error
    except yaml.reader.ReaderError as error:
        line = 1 + text.count("\n", 0, error.position)
        said = f"line {line} holds the character U+{error.character:04X}"
        raise ValueError(f"{said}, which YAML does not allow") from error


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
