"""A text that is being written: its pictures grow with it, and it can be stopped."""

import time

import streamlit as st

from viz.run.batches import said
from viz.run.request import Answer, Request, about, answer, keep_answer
from viz.run.writing import part_of, read
from viz.state.state import change, session

TICK = 0.3
"""Seconds between two looks at what was written."""
LEAST, SHARE = 1.0, 4
"""Pictures are drawn anew when the text has grown for so many seconds, and for so many times as
long as they took: drawing takes a fifth of the time at most."""


def written_answer(request: Request) -> Answer:
    """The answer, or as much of it as is written after a moment; then the page grows with it.

    Raises as `make_answer`.
    """
    _read(request)
    reader, place = session().reader, st.empty()
    if reader is not None:
        writing = reader.writing
        reader.look()
        while not (writing.so_far and writing.is_late) and not writing.done.wait(TICK / 3):
            if writing.so_far is not None:
                place.text(_text(request, writing.so_far.text))
            elif writing.n_before is not None:
                place.caption(said(writing.n_before))
        if not writing.done.is_set():
            reader.drawing_since, reader.took = time.perf_counter(), None
            with place.container():
                _growing(request)
            return part_of(writing)
        end_reading()
        place.empty()
        return writing.result()
    if session().screen.stopped is not None:
        with place.container(horizontal=True, vertical_alignment="center", key="stopped"):
            st.caption(f"Stopped after {session().screen.stopped:d} tokens.", width="content")
            st.button("Write all of it", on_click=change, kwargs={"stopped": None})
    return answer(request)


def drawn() -> None:
    """The pictures of a part are on the page."""
    reader = session().reader
    if reader is not None and reader.took is None:
        reader.took = time.perf_counter() - reader.drawing_since


def end_reading() -> None:
    """Wait for no text any more."""
    reader, session().reader = session().reader, None
    if reader is not None:
        reader.end()


def _read(request: Request) -> None:
    reader = session().reader
    if reader is None or reader.writing.request != request or reader.writing.is_unread:
        end_reading()
        session().reader = read(request)


@st.fragment(run_every=TICK)
def _growing(request: Request) -> None:
    """The text so far, and what stops it."""
    reader = session().reader
    if reader is None or reader.writing.request != request:
        st.rerun()  # it was stopped, or another text is asked for
    reader.look()
    now, writing = time.perf_counter(), reader.writing
    took = reader.took
    if took is not None and (
        writing.done.is_set() or now - reader.drawing_since > took + max(LEAST, SHARE * took)
    ):
        st.rerun()
    with st.container(horizontal=True, vertical_alignment="center"):
        if writing.so_far is not None:
            st.text(_text(request, writing.so_far.text), width="stretch")
        st.button("Stop", icon=":material/stop:", on_click=_stop)


def _stop() -> None:
    reader = session().reader
    if reader is not None:
        part = part_of(reader.writing)
        keep_answer(part)
        change(stopped=int(dict(part.request.options)["max_len"]))
        end_reading()


def _text(request: Request, written: str) -> str:
    known = about(request.checkpoint)
    return f"{request.text}{written}" if known and known.family.continues else written
