"""What a session keeps: the Screen, the answer that is shown, and what was opened."""

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import streamlit as st

from transformer.complexity import Measured, Sizes
from viz.components.head_map.head_map import Region
from viz.components.kit.guarded import guarded
from viz.lessons.kept import Kept
from viz.lessons.tried import Tried
from viz.run.previews import LivePreview
from viz.run.request import Answer, Request
from viz.run.study import Study
from viz.run.work import Follower
from viz.run.writing import Reader
from viz.screen import Screen, choose, default, value_of, with_entry
from viz.stories.story import Scene
from viz.theme import Theme, theme

_SESSION = "session"


@dataclass
class Address:
    """What the browser's address bar shows, as far as the server knows."""

    page: str = ""
    query: str = ""
    number: int = 0
    """Of the last address that was written."""
    n_entries: int = 0
    """How many choices were made to which Back leads."""
    n_opened: int = 0
    """How many addresses were read: of a link, of Back or Forward."""
    taken: str | None = None
    """Where somebody went by Back or Forward, if nothing was chosen since."""


@dataclass
class Session:
    """What one person chose and opened. Drawing code reads the Screen; callbacks change it."""

    screen: Screen = field(default_factory=Screen)
    shown: Answer | None = None
    second: Request | None = None
    """What Compare showed last of another checkpoint."""
    good: tuple[str, Screen] | None = None
    """The last screen that was drawn whole, after the title of its page."""
    failed: str | None = None
    """Why the last run could not draw its page; the run that follows says so."""
    opened: list[str] = field(default_factory=list)
    """The paths of checkpoints that were opened beside the shipped ones."""
    tried: tuple[str, str | None] = ("", None)
    """What was typed into the sidebar last, and why it could not be opened."""
    address: Address = field(default_factory=Address)
    asked: Screen | None = None
    """What the address said that was opened last, by a link, Back or Forward."""
    led: Screen | None = None
    """The same without what does not exist: whoever has not changed anything since sees this."""
    drawn: str = ""
    """The name of the theme in which the page was drawn last, with its style and its sidebar."""
    regions: dict[str, tuple[object, Region]] = field(default_factory=dict)
    """By pane, the region of a large heat map whose exact values are shown, and of which one."""
    measured: dict[Sizes, Measured] = field(default_factory=dict)
    """Times of real layers, as far as they were asked for."""
    reader: Reader | None = None
    """Of the text that is being written; None: nothing is waited for."""
    runs: deque[float] = field(default_factory=deque)
    """When a model read something for this person, where that is limited: viz/state/limits.py."""
    charged: object = None
    """What it read last."""
    studies: dict[type[Study[Any]], Follower[Any]] = field(default_factory=dict)
    """Those that are waited for: one of each sort."""
    preview: LivePreview = field(default_factory=LivePreview)
    undone: list[tuple[str, ...]] = field(default_factory=list)
    """The edits that were in force before each of the last was taken back, the newest last."""
    before: list[tuple[str, ...]] = field(default_factory=list)
    """Those that were in force before each of the last changes of them."""
    dropped: list[str] = field(default_factory=list)
    """Why edits were dropped; the run that follows says so."""
    refused_figure: str = ""
    """Why the file that was dropped last is no figure; the run that follows says so."""
    refused_file: str = ""
    """Why the file of sentences that was given last was not taken; empty: it was."""
    refused_story: str = ""
    """Why the story that was given last was not opened; empty: it was."""
    goes: str = ""
    """The link to which the browser is to go: a story was dropped; empty: to none."""
    draft: str | None = None
    """The code of the story that is put together."""
    browser: str = ""
    """What only it knows; empty: nothing was asked yet."""
    added: str = ""
    """What became of the scene that was added to it last; said once."""
    removed: list[tuple[str, int, Scene]] = field(default_factory=list)
    """Scenes that were removed from it, by its code and their places, the last one last."""
    needed: object = None
    """Of which step and word it was asked what it would have to look at."""
    answers: dict[str, Tried] = field(default_factory=dict)
    """How far the tasks of lessons are, each by the code of its place and of what it is about."""
    regained: Mapping[str, Kept] = field(default_factory=dict)
    """What the browser kept of those that were answered before this session began."""
    turns: dict[str, int] = field(default_factory=dict)
    """How often a widget has given way to a new one, by its name."""


def session() -> Session:
    """The session of the person who looks at the page."""
    if is_new():
        st.session_state[_SESSION] = Session()
    known: Session = st.session_state[_SESSION]
    return known


def is_new() -> bool:
    """Whether nothing was drawn in this session yet."""
    return _SESSION not in st.session_state


def current_theme() -> Theme:
    """Light or dark, as the browser shows it."""
    return theme(st.context.theme.type)


def change(**choices: Any) -> None:
    """Change these fields of the Screen."""
    session().screen = choose(session().screen, **choices)


def bound(name: str, value: Any, usual: Any = None) -> dict[str, Any]:
    """What a widget that shows this value is given, to choose another for a field of the Screen.

    usual: the value that stands for the default.
    """
    return widget(name, value, lambda new: change(**{name: default(name) if new == usual else new}))


def bound_entry(name: str, entry: str, value: Any, usual: Any = None) -> dict[str, Any]:
    """The same for one entry of a field that has entries."""

    def choose_entry(new: Any) -> None:
        entries = value_of(session().screen, name)
        change(**{name: with_entry(entries, entry, None if new == usual else new)})

    return widget(entry, value, choose_entry)


def widget(name: str, value: Any, choose: Callable[[Any], None]) -> dict[str, Any]:
    """A key and a callback for a widget that shows this value; told what is chosen instead.

    One that showed something else before gives way to a new one, under another key: what a busy
    browser still says of the old one is not taken for a choice.
    """
    turns = session().turns
    key = _key(name)
    if key in st.session_state and st.session_state[key] != value:
        turns[name] = turns.get(name, 0) + 1
        key = _key(name)

    def told() -> None:
        if key == _key(name):  # Streamlit calls back for the old one, too
            choose(st.session_state[key])

    return {"key": key, "on_change": guarded(told)}


def _key(name: str) -> str:
    n = session().turns.get(name, 0)
    return f"{name} {n}" if n else name
