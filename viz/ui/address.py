"""What components tell of themselves, kept by the session and written into the address.

Streamlit binds its own widgets to the address; what a component reports is kept here. Each value
belongs to something (a request, a head): once that changes, the default holds again. Where the
browser itself changes the address (Back, Forward), the address is right.
"""

from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace

import streamlit as st

_KEPT, _PAGE = "kept_", "kept_page"


@dataclass(frozen=True)
class _Kept:
    about: Hashable
    value: str
    seen: str | None
    """What the address said of it in the last run; None: the session knows better than it."""


def open_page(page: str) -> None:
    """Tell which page runs. A link to another page drops values: they are not taken back by it."""
    if st.session_state.get(_PAGE) == page:
        return
    st.session_state[_PAGE] = page
    for key, known in list(st.session_state.items()):
        if isinstance(known, _Kept) and str(key).removeprefix(_KEPT) not in st.query_params:
            st.session_state[key] = replace(known, seen=None)


def kept(name: str, about: Hashable, default: str = "", legal: Callable[[str], str] = str) -> str:
    """The value of this name for `about`: the session's, or what the browser has put in its place.

    legal: makes a value that can be shown of whatever somebody wrote into the address.
    """
    said = st.query_params.get(name, default)
    known = st.session_state.get(_KEPT + name) or _Kept(about, said, said)
    if known.seen not in (None, said):
        value = said
    else:
        value = known.value if known.about == about else default
    value = legal(value)
    st.session_state[_KEPT + name] = _Kept(about, value, value)
    _write(name, value, default)
    return value


def keep(name: str, about: Hashable, value: str) -> None:
    """Remember a value; the next run of the script writes it into the address."""
    st.session_state[_KEPT + name] = _Kept(about, value, None)


def _write(name: str, value: str, default: str) -> None:
    """Defaults stay out of the address; a value that stands there already is not sent again."""
    if value == default:
        if name in st.query_params:
            del st.query_params[name]
    elif st.query_params.get(name) != value:
        st.query_params[name] = value
