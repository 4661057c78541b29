"""The address in the browser: the Screen is read from it once, and at each Back and Forward.

Otherwise the Screen is right, and is written into it: a choice is an entry of the browser's
history, a link to another page is one that Streamlit has made already.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from urllib.parse import parse_qsl

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from viz.components.address.address import address_bar
from viz.screen import FIRST_PAGE, parse, query, spell
from viz.ui.state import is_new, session


def open_page(page: str) -> None:
    """A page is drawn; the first one of a session as the address says."""
    if is_new() or _is_back():
        _take(page, st.query_params.to_dict())
    state = session()
    state.screen = replace(state.screen, page=page)


def _is_back() -> bool:
    """Whether Streamlit runs the whole script for Back or Forward.

    The address bar tells of these by itself; but Streamlit is sooner, and would draw what was
    chosen before.
    """
    return bool(getattr(get_script_run_ctx(), "is_history_navigation", False))


def write_address(pages: Sequence[str]) -> None:
    """Let the address say what is chosen. pages: all that there are."""
    state, said = session(), query(session().screen)
    page, known = state.screen.page, state.address
    if (page, said) != (known.page, known.query):
        is_new_entry = page == known.page
        state.address = replace(
            known, page=page, query=said, number=known.number + 1, is_new_entry=is_new_entry
        )
    known = state.address
    address_bar(
        known.number,
        known.query,
        is_new_entry=known.is_new_entry,
        page=_path(page),
        pages=[_path(each) for each in pages],
        on_back=_go_back,
    )


def _go_back(query: str) -> None:
    _take(session().screen.page, dict(parse_qsl(query, keep_blank_values=True)))


def _take(page: str, said: Mapping[str, str]) -> None:
    """Show what an address says; where it says more than can be read, it is mended."""
    state = session()
    state.screen = parse({**said, "page": page})
    is_whole = spell(replace(state.screen, page=FIRST_PAGE)) == dict(said)
    number = state.address.number + (not is_whole)
    state.address = replace(
        state.address, page=page, query=query(state.screen), number=number, is_new_entry=False
    )


def _path(page: str) -> str:
    return "" if page == FIRST_PAGE else page
