"""Long work on a page: how far it is, what stops it, and what lets it go on."""

from collections.abc import Callable, Hashable
from functools import partial
from typing import Any

import streamlit as st
from streamlit import runtime
from streamlit.runtime.scriptrunner import get_script_run_ctx

from transformer import InputError
from viz.labels import literal
from viz.run.long_work import Follower, Make, T, follow
from viz.state.limits import charge, charge_more
from viz.state.state import session

TICK = 0.7
"""Seconds between two looks at work that goes on."""
AT_ONCE = 10
"""Texts that long work reads for one run of a visitor: its steps give way to everybody's."""
PATIENCE = 0.4
"""Seconds in which most work is done that is short."""


def following(slot: str, name: Hashable, make: Make[T]) -> Follower[T]:
    """The session's work in this slot, begun where another one or none was there. Raises Refusal.

    name: of the work, for all sessions.
    """
    known = session().following
    now: Follower[T] | None = known.get(slot)
    if now is None or now.work.name != name:
        if now is not None:
            now.stop()
        charge(("work", name))
        now = known[slot] = follow(name, make, browser_of_session())
        now.work.ended.wait(PATIENCE)
    now.look()
    return now


def browser_of_session() -> Callable[[], bool]:
    """Tells, of any thread, whether this session is connected to a browser now."""
    run = get_script_run_ctx()
    if run is None or not runtime.exists():  # as in tests
        return lambda: True
    return partial(runtime.get_instance().is_active_session, run.session_id)


def grown(
    now: Follower[T],
    draw: Callable[[T], None],
    far: Callable[[T], tuple[int, int]],
    n_read: Callable[[T], int] = lambda known: 0,
) -> None:
    """Draw what is known, again and again while it grows. Raises what the work raised.

    far: how many are done of how many, which the page says while some are missing. n_read: how
    many texts a model has read for it, beside the first: a visitor is charged for every tenth.
    """
    is_going = not (now.is_stopped or now.work.ended.is_set())
    if now.work.error is not None:  # not within the fragment: Streamlit would show it by itself
        raise now.work.error

    @st.fragment(run_every=TICK if is_going else None)
    def part() -> None:
        now.look()
        _charge(now, n_read)
        is_ended = now.is_stopped or now.work.ended.is_set()
        is_other = now not in session().following.values()  # another one goes on in its place
        if is_other or (is_going and is_ended):
            st.rerun()
        latest = now.work.latest
        if latest is None:
            _begun(now, is_ended)
        else:
            if not now.work.is_whole:
                _far(now, *far(latest))
            draw(latest)

    part()


def _charge(now: Follower[T], n_read: Callable[[T], int]) -> None:
    latest = now.work.latest
    if latest is None or now.is_stopped:
        return
    n = (n_read(latest) - (0 if now.known is None else n_read(now.known))) // AT_ONCE
    more, now.n_charged = n - now.n_charged, n
    if more > 0:
        try:
            charge_more(more)
        except InputError as error:
            now.why = str(error)
            now.stop()


def _begun(now: Follower[T], is_ended: bool) -> None:
    with st.container(horizontal=True, vertical_alignment="center", key="begun"):
        if is_ended:
            st.caption("Nothing is known yet: it was stopped.", width="content")
            _offer_to_go_on(now)
        else:
            st.caption("Working …", width="content")
            _offer_to_stop(now)


def _far(now: Follower[T], n_done: int, n_all: int) -> None:
    with st.container(horizontal=True, vertical_alignment="center", key="far"):
        if now.is_stopped or now.work.ended.is_set():
            said = f"Stopped: {n_done:d} of {n_all:d} are done. {literal(now.why)}"
            st.caption(said, width="content")
            _offer_to_go_on(now)
        else:
            st.progress(n_done / max(1, n_all), f"{n_done:d} of {n_all:d} are done", width=300)
            _offer_to_stop(now)


def _offer_to_stop(now: Follower[T]) -> None:
    st.button("Stop", icon=":material/stop:", key=f"stop {id(now):d}", on_click=now.stop)


def _offer_to_go_on(now: Follower[T]) -> None:
    look: Any = {"icon": ":material/play_arrow:", "key": f"go on {id(now):d}"}
    st.button("Go on", on_click=_go_on, args=(now,), **look)


def _go_on(now: Follower[T]) -> None:
    known = session().following
    for slot, each in known.items():
        if each is now:
            known[slot] = follow(now.work.name, now.work.make, now.is_open)
