"""The address in the browser: the Screen is read from it once, and at each Back and Forward.

Otherwise the Screen is right, and is written into it: a choice is an entry of the browser's
history, a link to another page is one that Streamlit has made already.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from urllib.parse import parse_qsl

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from transformer.files.foreign_text import clean
from viz.choice import OPENED
from viz.components.address.address import address_bar
from viz.components.kit.sync import opened
from viz.screen import FIRST_PAGE, choose, locked, parse, query, spell
from viz.state.changing import note_edits
from viz.state.page import PAGES
from viz.state.state import current_theme, fail, is_new, session


def open_page(page: str) -> None:
    """A page is drawn; the first one of a session, and one that is gone Back to, as it was."""
    run = get_script_run_ctx()
    if run is not None and run.is_history_navigation:
        _take(page, _query_of_run(), is_back=True)
    elif is_new():
        _take(page, _query_of_run())
    state = session()
    state.screen = choose(state.screen, page=page)


def write_address(pages: Sequence[str], part: str, ways: Mapping[str, str] | None = None) -> None:
    """Let the address say what is chosen. pages: all that there are; part, ways: see
    `address_bar`.
    """
    state, text = session(), query(session().screen)
    page, address = state.screen.page, state.address
    if (page, text) != (address.page, address.query):
        state.address = replace(
            address,
            page=page,
            query=text,
            number=address.number + 1,
            n_entries=address.n_entries + (page == address.page),
            taken=None,
        )
    address = state.address
    address_bar(
        address.number,
        address.query,
        n_entries=address.n_entries,
        taken=address.taken,
        asked=_query_of_run(),
        drawn=current_theme().name,
        page=_path(page),
        title=PAGES[page].title,
        pages=[_path(each) for each in pages],
        part=part,
        ways=ways or {},
        on_back=_go_back,
    )


def _query_of_run() -> str:
    """The query of the address from which the browser asks for this run.

    Where pages follow upon each other faster than runs, st.query_params is still of one before.
    """
    run = get_script_run_ctx()
    return run.query_string if run is not None else ""


def _go_back(query: str) -> None:
    _take(session().screen.page, query, is_back=True)


def _take(page: str, text: str, is_back: bool = False) -> None:
    """Show what an address says; where it says more than can be read, it is mended."""
    entries = dict(parse_qsl(text, keep_blank_values=True))
    is_first, state = is_new(), session()
    if (named := parse({"page": page, **entries}).page) not in PAGES:  # the server led here
        fail(f"There is no page {clean(named)} here: {PAGES[page].title} is shown.")
    before, state.arrival = state.screen, parse({**entries, "page": page})
    # As any choice leaves it: what only the next one put right would be taken for a part of that.
    state.screen = state.landing = locked(state.arrival)
    if not is_first:
        note_edits(before)
    is_whole = spell(replace(state.screen, page=FIRST_PAGE)) == dict(entries)
    st.session_state[OPENED] = opened() + 1
    state.address = replace(
        state.address,
        page=page,
        query=query(state.screen),
        number=state.address.number + (not is_whole),
        taken=text if is_back else None,
    )


def _path(page: str) -> str:
    return "" if page == FIRST_PAGE else page
