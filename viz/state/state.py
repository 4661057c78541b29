"""The memory of a session: the Screen, the answer that is shown, and what was opened."""

import secrets
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from transformer.analysis.reading import Selection
from viz.app_packages import draws_pages, st
from viz.choice import PICTURE, SESSION, with_entry
from viz.components.kit.sync import guarded
from viz.labels import literal
from viz.run.request import Answer
from viz.run.work import Follower
from viz.screen import Screen, choose, default, is_opening, locked, put, query, value_of
from viz.theme import Theme, theme

# The memory of a session: the Screen, the answer that is shown, and what was opened.

T = TypeVar("T")


@dataclass
class Address:
    """The content of the browser's address bar, as far as the server knows."""

    page: str = ""
    query: str = ""
    number: int = 0
    """The number of the last address that was written."""
    n_entries: int = 0
    """The number of choices to which Back leads."""
    taken: str | None = None
    """The query to which somebody went by Back or Forward, if nothing was chosen since."""


@dataclass
class Session:
    """One person's choices, and what they opened. Drawing reads the Screen; callbacks change it."""

    screen: Screen = field(default_factory=Screen)
    answer: Answer | None = None
    opened: list[str] = field(default_factory=list)
    """The paths of checkpoints that were opened beside the shipped ones."""
    address: Address = field(default_factory=Address)
    arrival: Screen | None = None
    """The Screen of the address that was opened last, by a link, Back or Forward."""
    landing: Screen | None = None
    """The same without what does not exist: whoever has not changed anything since sees this."""
    first_special: str = "shown"
    """Special tokens in the picture that the checkpoint opens with: `About.special`."""
    studies: dict[Hashable, Follower[Any]] = field(default_factory=dict)
    """Studies that are waited for: one of each sort, which is a type, or a page's name for it."""
    turns: dict[str, int] = field(default_factory=dict)
    """The number of times that a widget gave way to a new one, by its name."""
    own: dict[type, Any] = field(default_factory=dict)
    """Values of single modules for this person, by the dataclass that declares them."""

    def of(self, record: type[T]) -> T:
        """Return a module's value for this person, which changes in place.

        At first it is made of the dataclass that declares it.
        """
        if record not in self.own:
            self.own[record] = record()
        mine: T = self.own[record]
        return mine


def session() -> Session:
    """The session of the person who looks at the page; where no page is drawn, one of its own."""
    if not draws_pages():
        return Session()
    try:  # looking first whether it is there would cost as much again
        own: Session = st.session_state[SESSION]
    except KeyError:
        own = st.session_state[SESSION] = Session()
    return own


def is_new() -> bool:
    """Tell whether nothing was drawn in this session yet."""
    return SESSION not in st.session_state


def current_theme() -> Theme:
    """Light or dark, as the browser shows it."""
    return theme(st.context.theme.type)


def change(**choices: Any) -> None:
    """Change these fields of the Screen. Another head is read as the one that is drawn, and what is
    pinned stays in the rows and columns that it has there.
    """
    own = session()
    screen, first = choose(own.screen, **choices), own.first_special
    if first != "shown" and PICTURE & choices.keys() and "special" not in choices:
        drawn = own.screen.special or (first if is_opening(own.screen) else "shown")
        usual = first if is_opening(screen) else "shown"
        screen = replace(screen, special=None if drawn == usual else drawn)
    own.screen = screen


def bound(name: str, value: Any, usual: Any = None) -> dict[str, Any]:
    """Bind a widget that shows this value to a field of the Screen: return its arguments.

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

    def take() -> None:
        if key == _key(name):  # Streamlit calls back for the old one, too
            choose(st.session_state[key])

    return {"key": key, "on_change": guarded(take)}


def _key(name: str) -> str:
    n = session().turns.get(name, 0)
    return f"{name} {n}" if n else name


# The browser of a session: what is put together in it stays there after a reload, and only there.
#
# Its name is a number that says nothing of anybody, in a cookie that scripts cannot read. Where a
# browser keeps none, as in a page of another site, the session is all there is.

COOKIE = "headscope-browser"
_BYTES, _DAYS = 24, 30


def new_cookie(base: str, is_secure: bool) -> str:
    """Return the cookie for a browser that has none. base: the path of the app, without slashes."""
    cookie = f"{COOKIE}={secrets.token_urlsafe(_BYTES)}; Path=/{base}; Max-Age={_DAYS * 86400}"
    return f"{cookie}; HttpOnly; SameSite=Lax{'; Secure' if is_secure else ''}"


def _name() -> str:
    return st.context.cookies.get(COOKIE) or secrets.token_urlsafe(_BYTES)


@dataclass
class Browser:
    """A session's browser, asked once."""

    name: str = field(default_factory=_name)


def this_browser() -> str:
    """The same for all windows of a browser, if it keeps cookies."""
    return session().of(Browser).name


# Sentences beside what a page shows: why something is not there, or is not what was asked for.

_ICON = ":material/info:"


def note(reason: object) -> None:
    """Draw a sentence, or that of a refusal, as it stands: nothing in it is Markdown."""
    st.info(literal(str(reason)), icon=_ICON)


def warn(reason: object) -> None:
    """Draw the same where something that was asked for could not be done."""
    st.warning(literal(str(reason)), icon=_ICON)


def fail(reason: object) -> None:
    """Draw the same where something is wrong."""
    st.error(literal(str(reason)), icon=":material/error:")


# Names in an address that do not exist are removed from it: the default is shown instead.


def mend_head(selection: Selection, suffix: str = "") -> None:
    """Begin the run again where the Screen names another head than the one that is shown.

    suffix: of the fields that name it.
    """
    screen = session().screen
    chosen = {name: value_of(screen, f"{name}{suffix}") for name in ("kind", "layer", "head")}
    wrong = [
        name for name, value in chosen.items() if value not in (None, getattr(selection, name))
    ]
    left: dict[str, Any] = {f"{name}{suffix}": None for name in wrong}
    if left:
        mend(put(screen, **left))
        st.rerun()


def mend(screen: Screen) -> None:
    """Show this screen. The address of the one before is written over: Back does not lead to it."""
    state, screen = session(), locked(screen)
    if screen != state.screen:
        state.landing = screen if state.landing == state.screen else state.landing
        state.screen, number = screen, state.address.number + 1
        state.address = replace(state.address, query=query(screen), number=number)
