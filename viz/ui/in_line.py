"""The place in the line of a person whose text waits for those of others."""

from collections.abc import Callable
from threading import get_ident

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from viz.ui.batches import Runner, said
from viz.ui.request import Answer, Request, answer, make_answer


def in_line(
    request: Request,
    place: DeltaGenerator,
    make: Callable[[Request, Runner], Answer] = lambda asked, runner: make_answer(
        asked, runner=runner
    ),
) -> Answer:
    """The answer. place: empty; says how many are before it, meanwhile. make: makes the answer.

    It ends between two steps where the page is drawn anew. Raises as `make_answer`.
    """
    own = get_ident()

    def tell(n_before: int | None) -> None:
        if n_before is None:
            place.empty()
        else:
            place.caption(said(n_before))

    def check() -> None:
        if get_ident() == own:  # the steps of a batch are taken by any of its threads
            _ = "session" in st.session_state  # ends this run where the next one is asked for

    runner = Runner(on_wait=tell, check=check)
    try:
        return answer(request, lambda asked: make(asked, runner))
    finally:
        place.empty()
