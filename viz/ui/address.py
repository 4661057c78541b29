"""What components tell of themselves, kept by the session and written into the address.

Streamlit binds its own widgets to the address; what a component reports is kept here. Each value
belongs to something (a request, a head): once that changes, the default holds again.
"""

from collections.abc import Callable, Hashable

import streamlit as st


def kept(name: str, about: Hashable, default: str = "", legal: Callable[[str], str] = str) -> str:
    """The value of this name for `about`: the session's, at first the address'.

    legal: makes a value that can be shown of whatever somebody wrote into the address.
    """
    linked = (about, st.query_params.get(name, default))
    subject, value = st.session_state.setdefault(_key(name), linked)
    if subject != about:
        value = default
        st.session_state[_key(name)] = (about, value)
    value = legal(value)
    _write(name, value, default)
    return value


def keep(name: str, about: Hashable, value: str) -> None:
    """Remember a value; the next run of the script writes it into the address."""
    st.session_state[_key(name)] = (about, value)


def _key(name: str) -> str:
    return f"kept_{name}"


def _write(name: str, value: str, default: str) -> None:
    """Defaults stay out of the address; a value that stands there already is not sent again."""
    if value == default:
        if name in st.query_params:
            del st.query_params[name]
    elif st.query_params.get(name) != value:
        st.query_params[name] = value
