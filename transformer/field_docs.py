"""The strings below the fields of a dataclass, where help() and `?` show them: in its docstring."""

import ast
import inspect
from dataclasses import fields, is_dataclass
from textwrap import dedent, indent, wrap
from typing import Any, TypeVar

T = TypeVar("T")

WIDTH = 84
"""Characters of a line: with what help() and the section put before it, below 100."""


def fields_in_help(cls: type[T]) -> type[T]:
    """Add a section "Attributes:" to the docstring of a dataclass: each field, its type, its line.

    Reading the sources of all of them takes a quarter of a second: each is read when somebody asks.
    Where there are no sources the docstring stays as it is written.
    """
    cls.__doc__ = _Docstring(cls.__doc__ or "")  # type: ignore[assignment]  # read as a property is
    return cls


class _Docstring:
    """A docstring that is put together when it is read: `type.__doc__` calls descriptors."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __get__(self, value: object, cls: type[Any]) -> str:
        try:
            lines = {it: line for base in cls.__mro__[::-1] for it, line in _lines(base).items()}
        except (OSError, SyntaxError, TypeError):  # no sources, or others by now
            return self.text
        names = [each.name for each in fields(cls) if not each.name.startswith("_")]
        section = ["Attributes:", *(lines[name] for name in names if name in lines)]
        return "\n".join((inspect.cleandoc(self.text), "", *section))


def _lines(cls: type) -> dict[str, str]:
    """Name of each field that a class itself declares -> its type, and below it what it is."""
    if not is_dataclass(cls):
        return {}
    tree = ast.parse(dedent(inspect.getsource(cls)))
    body = tree.body[0].body if isinstance(tree.body[0], ast.ClassDef) else []
    result = {}
    for node, below in zip(body, [*body[1:], None], strict=True):
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            name, sort = node.target.id, ast.unparse(node.annotation)
            text = below.value if isinstance(below, ast.Expr) else None
            words = str(text.value) if isinstance(text, ast.Constant) else ""
            result[name] = indent("\n".join((f"{name}: {sort}", *_wrapped(words))), " " * 4)
    return result


def _wrapped(words: str) -> list[str]:
    return [f"    {line}" for line in wrap(" ".join(words.split()), WIDTH, break_on_hyphens=False)]
