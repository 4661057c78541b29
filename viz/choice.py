"""A choice as data: its spelling in an address, its default, and what it belongs to."""

from collections.abc import Mapping
from dataclasses import Field, dataclass, field, fields
from functools import cache
from typing import Any, TypeVar

from viz.spelling import Spelling

T = TypeVar("T")


def choice(spelling: Spelling, default: Any = None, about: frozenset[str] = frozenset()) -> Any:
    """A field. about: the fields that it belongs to: once one changes, the default holds again."""
    return field(default=default, metadata={"spelling": spelling, "about": about})


@cache
def choices(record: type) -> dict[str, Field[Any]]:
    """name -> field of a dataclass, for each that `choice` made."""
    return {each.name: each for each in fields(record) if each.metadata}


@dataclass(frozen=True)
class PageFields:
    """The choices of a single page: one more part of every Screen, read by `Screen.of`."""

    name: str
    """The page's."""
    record: type
    """A frozen dataclass; each field is made by `choice`, and its name stands in the address."""
    before: str = ""
    """The field of the Screen that follows them in an address; empty: none, they end it."""

    @property
    def fields(self) -> Mapping[str, Field[Any]]:
        """Fields by name."""
        return choices(self.record)


def with_entry(
    entries: tuple[tuple[str, T], ...], name: str, value: T | None
) -> tuple[tuple[str, T], ...]:
    """Pairs of which the one of this name has another value; None: it is not mentioned."""
    others = {entry: other for entry, other in entries if entry != name}
    if value is not None:
        others[name] = value
    return tuple(sorted(others.items()))
