"""What components tell of themselves, kept by the session and written into the address.

Streamlit binds its own widgets to the address; what a component reports is kept here. Each value
belongs to something (a request, a head): once that changes, the default holds again. Where the
browser itself changes the address (Back, Forward), the address is right.
"""

import time
from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace

import streamlit as st

HEARD = 1.0
"""Seconds in which an old address means a busy browser; later somebody went back to it."""
_KEPT, _PAGE, _IS_TURNED = "kept_", "kept_page", "kept_is_turned"


@dataclass(frozen=True)
class _Kept:
    about: Hashable
    value: str
    seen: str | None
    """What the address said of it in the last run; None: the session knows better than it."""
    written: float = 0.0
    """When the address was last written, by the clock of `time.monotonic`; 0: never."""
    before: tuple[str, ...] = ()
    """What it said then: a browser that was busy may say so once more."""

    def is_unheard(self, said: str) -> bool:
        """Whether the browser had not heard of what was written when it said this."""
        return said in self.before and time.monotonic() - self.written < HEARD


def open_page(page: str) -> None:
    """Tell which page runs. A link to another page drops values: they are not taken back by it."""
    is_turned = st.session_state[_IS_TURNED] = st.session_state.get(_PAGE) != page
    if not is_turned:
        return
    st.session_state[_PAGE] = page
    for key, known in list(st.session_state.items()):
        if isinstance(known, _Kept) and str(key).removeprefix(_KEPT) not in st.query_params:
            st.session_state[key] = replace(known, seen=None)


def carry(*keys: str) -> None:
    """Write what bound widgets say into the address of another page, before they are drawn.

    Streamlit 1.67 leaves that to the browser, where a widget in a closed popover does not exist.
    """
    if st.session_state[_IS_TURNED]:
        for key in keys:
            if key in st.session_state:
                st.session_state[key] = st.session_state[key]


def kept(name: str, about: Hashable, default: str = "", legal: Callable[[str], str] = str) -> str:
    """The value of this name for `about`: the session's, or what the browser has put in its place.

    legal: makes a value that can be shown of whatever somebody wrote into the address.
    """
    said = st.query_params.get(name, default)
    known = st.session_state.get(_KEPT + name) or _Kept(about, said, said)
    is_unheard = known.is_unheard(said)
    if known.seen not in (None, said) and not is_unheard:
        value = said
    else:
        value = known.value if known.about == about else default
    value = legal(value)
    kept = _Kept(about, value, value, known.written, known.before)
    if value != said:
        before = (*known.before, said) if is_unheard else (said,)
        kept = replace(kept, written=time.monotonic(), before=before)
        _write(name, value, default)
    st.session_state[_KEPT + name] = kept
    return value


def keep(name: str, about: Hashable, value: str) -> None:
    """Remember a value; the next run of the script writes it into the address."""
    known = st.session_state.get(_KEPT + name) or _Kept(about, value, None)
    st.session_state[_KEPT + name] = replace(known, about=about, value=value, seen=None)


def _write(name: str, value: str, default: str) -> None:
    """Defaults stay out of the address; a value that stands there already is not sent again."""
    if value == default:
        if name in st.query_params:
            del st.query_params[name]
    elif st.query_params.get(name) != value:
        st.query_params[name] = value
