"""A text that is being written: its pictures grow with it, and it can be stopped."""

import time
from functools import partial

import streamlit as st

from transformer.decoding.decode import Written
from viz.labels import counted
from viz.run.request import Answer, Request, about, answer
from viz.run.shorter import part_of
from viz.run.work import Follower
from viz.state.state import change, session
from viz.ui.progress import wait, wait_for, wait_no_longer

PATIENCE, TICK = 0.5, 0.3
"""Seconds in which most texts are finished, and between two looks at one that is not."""
LEAST, SHARE = 1.0, 4
"""Pictures are drawn anew when the text has grown for so many seconds, and for so many times as
long as they took: drawing takes a fifth of the time at most."""


def written_answer(request: Request) -> Answer:
    """The answer, or as much of it as is written after a moment; then the page grows with it.

    Raises as `make_answer`.
    """
    now, place = wait_for(request), st.empty()
    work = now.work

    def is_growing() -> bool:
        return work.draft is not None and time.perf_counter() - work.began > PATIENCE

    wait(now, place, is_growing, partial(_text, request))
    if not work.ended.is_set() and is_growing():
        now.drawing_since, now.took = time.perf_counter(), None
        with place.container():
            _growing(request)
        return part_of(work)
    wait_no_longer(Request)
    place.empty()
    if (stopped := session().screen.stopped) is not None:
        with place.container(horizontal=True, vertical_alignment="center", key="stopped"):
            n = counted(stopped, "token", "tokens")
            st.caption(f"Stopped after {n}.", width="content")
            st.button("Write all of it", on_click=change, kwargs={"stopped": None})
    return work.result() if work.is_whole or work.error else answer(request)


def drawn() -> None:
    """The pictures of a part are on the page."""
    now = _reader()
    if now is not None and now.took is None:
        now.took = time.perf_counter() - now.drawing_since


def _reader() -> Follower[Answer] | None:
    return session().studies.get(Request)


@st.fragment(run_every=TICK)
def _growing(request: Request) -> None:
    """The text so far, and what stops it."""
    reader = _reader()
    if reader is None or reader.work.study != request:
        st.rerun()  # it was stopped, or another text is asked for
    reader.look()
    now, work, took = time.perf_counter(), reader.work, reader.took
    if took is not None and (
        work.ended.is_set() or now - reader.drawing_since > took + max(LEAST, SHARE * took)
    ):
        st.rerun()
    with st.container(horizontal=True, vertical_alignment="center"):
        if work.draft is not None:
            st.text(_text(request, work.draft), width="stretch")
        st.button("Stop", icon=":material/stop:", on_click=_stop)


def _stop() -> None:
    reader = _reader()
    if reader is not None:
        part = part_of(reader.work)
        change(stopped=int(dict(part.request.options)["max_len"]))
        wait_no_longer(Request)


def _text(request: Request, draft: Written) -> str:
    description = about(request.checkpoint)
    return (
        f"{request.text}{draft.text}"
        if description and description.family.continues and request.chat is None
        else draft.text
    )
