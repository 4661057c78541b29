"""A study on a page: how far it is, what stops it, and what lets it go on."""

from collections.abc import Callable
from functools import partial
from typing import Any

import streamlit as st
from streamlit import runtime
from streamlit.runtime.scriptrunner import get_script_run_ctx

from transformer import InputError
from viz.labels import literal
from viz.run.study import Study, Value
from viz.run.work import Follower, Work, follow
from viz.state.limits import charge, charge_more
from viz.state.page import Pane
from viz.state.state import session

TICK = 0.7
"""Seconds between two looks at work that goes on."""
AT_ONCE = 10
"""Texts that a study reads for one run of a visitor: its steps give way to everybody's."""
PATIENCE = 0.4
"""Seconds in which most studies are done that are short."""


def is_written(pane: Pane, title: str) -> bool:
    """Whether the text is; else the page says that it is waited for. title: of what follows."""
    if pane.asked == pane.answer.request:
        return True
    st.caption(f"{title} once the text is written.")
    return False


def begin(study: Study[Value]) -> Work[Value]:
    """The session's work on a study, in place of another study of its sort. Raises Refusal."""
    return _followed(study).work


def _followed(study: Study[Value]) -> Follower[Value]:
    followers = session().studies
    now: Follower[Value] | None = followers.get(type(study))
    if now is None or now.work.study != study:
        if now is not None:
            now.stop()
        charge(study)
        now = followers[type(study)] = follow(study, browser_of_session())
        now.work.ended.wait(PATIENCE)
    now.look()
    return now


def browser_of_session() -> Callable[[], bool]:
    """Tells, of any thread, whether this session is connected to a browser now."""
    run = get_script_run_ctx()
    if run is None or not runtime.exists():  # as in tests
        return lambda: True
    return partial(runtime.get_instance().is_active_session, run.session_id)


def grow(study: Study[Value], draw: Callable[[Value], None]) -> Work[Value]:
    """Draw a study's value, again and again while it grows. Raises what the study raises.

    Above it stands how far it is, while it is not whole, with Stop or Go on.
    """
    now = _followed(study)
    is_going = not (now.is_stopped or now.work.ended.is_set())
    if now.work.error is not None:  # not within the fragment: Streamlit would show it by itself
        raise now.work.error

    @st.fragment(run_every=TICK if is_going else None)
    def part() -> None:
        now.look()
        _charge(now)
        is_ended = now.is_stopped or now.work.ended.is_set()
        is_other = now not in session().studies.values()  # another one goes on in its place
        if is_other or (is_going and is_ended):
            st.rerun()
        latest = now.work.latest
        if latest is None:
            _begun(now, is_ended)
        else:
            if not now.work.is_whole:
                _progress(now, *study.progress(latest))
            draw(latest)

    part()
    return now.work


def _charge(now: Follower[Any]) -> None:
    latest, n_read = now.work.latest, now.work.study.n_read
    if latest is None or now.is_stopped:
        return
    n = (n_read(latest) - (0 if now.before is None else n_read(now.before))) // AT_ONCE
    more, now.n_charged = n - now.n_charged, n
    if more > 0:
        try:
            charge_more(more)
        except InputError as error:
            now.why = str(error)
            now.stop()


def _begun(now: Follower[Any], is_ended: bool) -> None:
    with st.container(horizontal=True, vertical_alignment="center", key="begun"):
        if is_ended:
            st.caption("Nothing is known yet: it was stopped.", width="content")
            _offer_to_go_on(now)
        else:
            st.caption("Working …", width="content")
            _offer_to_stop(now)


def _progress(now: Follower[Any], n_done: int, n_all: int) -> None:
    with st.container(horizontal=True, vertical_alignment="center", key="far"):
        if now.is_stopped or now.work.ended.is_set():
            text = f"Stopped: {n_done:d} of {n_all:d} are done. {literal(now.why)}"
            st.caption(text, width="content")
            _offer_to_go_on(now)
        else:
            st.progress(n_done / max(1, n_all), f"{n_done:d} of {n_all:d} are done", width=300)
            _offer_to_stop(now)


def _offer_to_stop(now: Follower[Any]) -> None:
    st.button("Stop", icon=":material/stop:", key=f"stop {id(now):d}", on_click=now.stop)


def _offer_to_go_on(now: Follower[Any]) -> None:
    look: Any = {"icon": ":material/play_arrow:", "key": f"go on {id(now):d}"}
    st.button("Go on", on_click=_go_on, args=(now,), **look)


def _go_on(now: Follower[Any]) -> None:
    followers = session().studies
    for sort, each in followers.items():
        if each is now:
            followers[sort] = follow(now.work.study, now.is_open)
