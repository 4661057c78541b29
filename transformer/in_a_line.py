"""Values in a line: a console and a notebook show the last value of a cell by its repr()."""

from collections.abc import Mapping, Sized
from dataclasses import MISSING, fields, is_dataclass
from pathlib import Path
from typing import Any, TypeVar

from transformer.refusal import visible

T = TypeVar("T")

LONGEST = 160
"""Characters of a line: fields that do not fit are left out."""
SHORT = 40
"""Characters of a field's value; of a longer one its size, or its beginning."""
PLAIN = (bool, int, float, str, bytes, type(None), Path)


def in_a_line(cls: type[T]) -> type[T]:
    """Give a class a repr() of one line: plain fields, and the sizes of all others.

    It stands below `@dataclass`, and a class keeps a repr() that it has. Of what is no dataclass
    its public attributes and properties are shown. A field is left out where it has its default,
    where its name begins with _, and where it says so itself.
    """
    if "__repr__" not in vars(cls) or issubclass(cls, tuple):  # a NamedTuple is given one
        cls.__repr__ = line  # type: ignore[method-assign]
    return cls


def line(value: Any) -> str:
    """Name a value with its fields, at most 200 characters without a line break.

    >>> from transformer.origin import Origin
    >>> line(Origin(Path("en-de"), "It rains.", edits=()))
    "Origin(checkpoint='en-de', text='It rains.')"
    """
    parts = [f"{name}={_brief(getattr(value, name))}" for name in _names(value)]
    name = type(value).__name__
    room = LONGEST - len(name)
    n = sum(sum(map(len, parts[: i + 1])) + 2 * i <= room for i in range(len(parts)))
    return f"{name}({', '.join([*parts[:n], *(['…'] * (n < len(parts)))])})"


def keys_in_a_line(mapping: Mapping[Any, Any]) -> str:
    """Name the keys of a mapping, without what stands under them.

    >>> keys_in_a_line({"source": 1, "target": 2})
    "{'source': …, 'target': …}"
    """
    keys = ", ".join(f"{_brief(key)}: …" for key in mapping)
    return f"{{{keys}}}" if len(keys) <= LONGEST else f"{{{_count(mapping)}}}"


def _names(value: Any) -> list[str]:
    """The names of the fields that say something."""
    if isinstance(value, tuple):  # a NamedTuple
        return list(value._fields)  # type: ignore[attr-defined]
    if not is_dataclass(value):
        cls = type(value)
        names = {*vars(value), *(it for it in dir(cls) if isinstance(getattr(cls, it), property))}
        return sorted(it for it in names if not it.startswith("_"))
    public = (it for it in fields(value) if it.repr and not it.name.startswith("_"))
    return [it.name for it in public if not _is_default(getattr(value, it.name), it)]


def _is_default(at: Any, field: Any) -> bool:
    if isinstance(at, PLAIN):
        return type(at) is type(field.default) and at == field.default
    has_one = field.default is not MISSING or field.default_factory is not MISSING
    return has_one and not hasattr(at, "shape") and isinstance(at, Sized) and not len(at)


def _brief(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, PLAIN):
        text = visible(repr(str(value) if isinstance(value, Path) else value))
        return text if len(text) <= SHORT else f"{text[: SHORT - 1]}…"
    if hasattr(value, "shape"):  # a tensor, or an array
        return f"{type(value).__name__.lower()} {list(value.shape)}"
    if callable(value):  # a class, a function, or a module
        return str(getattr(value, "__name__", type(value).__name__))
    if isinstance(value, tuple | list) and all(isinstance(each, PLAIN) for each in value[:SHORT]):
        text = ", ".join(map(_brief, value[:SHORT]))
        if len(value) <= SHORT and len(text) <= SHORT:
            return f"({text}{',' * (len(value) == 1)})"
    if isinstance(value, Sized) and not is_dataclass(value):
        return _count(value)
    text = repr(value) if is_dataclass(value) else ""
    return text if 0 < len(text) <= SHORT else type(value).__name__


def _count(values: Sized) -> str:
    return f"{len(values):,} {'entry' if len(values) == 1 else 'entries'}"
