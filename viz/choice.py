"""A choice as data: its spelling in an address, its default, and what it belongs to."""

from collections.abc import Mapping
from dataclasses import Field, dataclass, field, fields
from functools import cache
from typing import Any, TypeVar

from viz.spelling import Spelling

# A choice as data: its spelling in an address, its default, and what it belongs to.

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


# The fields that others may belong to: once one of these changes, their defaults hold again.

CHECKPOINT, STORY = frozenset(("checkpoint",)), frozenset(("story",))
SENTENCE = CHECKPOINT | {"text", "pair"}
SEARCH = SENTENCE | {"template", "system", "decoding", "options", "turns"}
SEARCH |= {"source_language", "target_language", "prefix", "force", "forbid"}
"""The fields that make what is decoded."""
REQUEST = SEARCH | {"branch"}
"""The fields that make the question to the model."""
QUESTION = REQUEST | STORY | {"scene"}
"""Fields that make the question of a scene another one."""
HEAD, SECOND = frozenset(("kind", "layer", "head")), frozenset(("checkpoint_b", "edited_b"))
PICTURE = HEAD | {"heads", "pins", "cell"}
"""The fields of which the picture that a checkpoint opens with has none."""
HEAD_B = frozenset(("kind_b", "layer_b", "head_b"))
"""The head of B, on Compare."""


# The names under which Streamlit's session keeps what is ours; all others are keys of widgets.

SESSION = "session"
"""The Session of viz/state/state.py: what one person chose and opened."""
HEARD = "heard"
"""The largest number among the changes of each component: viz/components/kit/sync.py."""
OPENED = "opened"
"""The number of addresses that were read: of a link, of Back or Forward."""
VERSIONS = "versions"
"""The hash of the data of each component, and the count of its changes."""
TOKEN = "token"
"""Tells the data of one session from those of another."""
FAILED = "failed callback"
"""The error that a callback raised since the last question: viz/components/kit/sync.py."""
