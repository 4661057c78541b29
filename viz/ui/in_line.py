"""The place in the line of a person whose text waits for those of others."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import get_ident

import streamlit as st
from streamlit.delta_generator import DeltaGenerator
from torch import nn

from viz.run.batches import Runner, said
from viz.run.request import Answer, Request, answer, make_answer
from viz.session_keys import SESSION


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
    runner = _runner(place)
    try:
        return answer(request, lambda asked: make(asked, runner))
    finally:
        place.empty()


@contextmanager
def turn_in_line(model: nn.Module, place: DeltaGenerator) -> Iterator[None]:
    """While a model is run otherwise than for an answer, as one piece: its place is shown as well.

    Whatever asks for an answer stands outside: see `Runner.turn`.
    """
    with _runner(place).turn(model):
        yield


def _runner(place: DeltaGenerator) -> Runner:
    own = get_ident()

    def tell(n_before: int | None) -> None:
        if n_before is None:
            place.empty()
        else:
            place.caption(said(n_before))

    def check() -> None:
        if get_ident() == own:  # the steps of a batch are taken by any of its threads
            _ = SESSION in st.session_state  # ends this run where the next one is asked for

    return Runner(on_wait=tell, check=check)
