"""The browser's history: what the server writes into it, and where Back and Forward lead."""

from collections.abc import Callable, Sequence
from urllib.parse import parse_qsl

import streamlit as st

from viz.components.kit.browser import Component

ADDRESS = Component("address")
_COMPONENT = st.components.v2.component(ADDRESS.name, html=ADDRESS.html, js=ADDRESS.js)


def address_bar(
    number: int,
    query: str,
    *,
    is_new_entry: bool,
    heard: int,
    page: str,
    pages: Sequence[str],
    on_back: Callable[[int, dict[str, str]], None],
    key: str = "address",
) -> None:
    """Write a query into the address of this page, once for each number; it draws nothing.

    is_new_entry: whether Back leads to the address that stood there before. page: the last part of
    the path, of these pages. on_back: called with a number and the names and values of the address
    that somebody went to, Back or Forward, before the script runs; heard: the largest such number.
    An address that was written before the server heard of it is dropped.
    """

    def went() -> None:
        told = st.session_state[key].went
        if told is not None:
            on_back(int(told["n"]), dict(parse_qsl(told["query"], keep_blank_values=True)))

    _COMPONENT(
        key=key,
        data={
            "number": number,
            "query": query,
            "is_new_entry": is_new_entry,
            "heard": heard,
            "page": page,
            "pages": list(pages),
        },
        on_went_change=went,
    )
