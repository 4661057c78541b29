"""Texts of several people share a batch, and whoever finds no room is told their place."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from threading import Event

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from tests.transformer.decoding.test_shared_batch import until
from tests.viz.ui.test_app import start
from transformer import Decoding, decode
from transformer.decoding import shared_batch
from viz.run.cache import CACHE
from viz.run.line import ENTERED, PREVIEW, Runner, batch_of, entered, place_in_line
from viz.run.request import Request, make_answer, make_request, open_checkpoint

HELD, ASKED = "3 7 2", "5 5 2 8"


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Iterator[Request]:
    """A request of a model with room for one text at a time."""
    CACHE.clear()
    request = make_request("copy", ASKED, "beam", (("beam_size", 1),))
    batch = batch_of(open_checkpoint(request).model)
    monkeypatch.setattr(shared_batch, "EVERY", 0.005)
    monkeypatch.setattr(batch, "_most_rows", 1)
    yield request
    until(lambda: not batch.is_at_work)


def hold(request: Request, go: Event) -> Callable[[], Decoding]:
    """Somebody else's text, which ends once it may."""
    checkpoint = open_checkpoint(request)

    def waits(_: object) -> None:
        assert go.wait(30)

    return partial(decode, checkpoint, HELD, on_token=waits, run=entered.run(checkpoint.model))


def test_what_is_said() -> None:
    assert place_in_line(0) == "Yours is the next one."
    assert place_in_line(1) == "1 person before you."
    assert place_in_line(12) == "12 people before you."


@pytest.mark.parametrize("method", ["beam", "greedy"])
def test_the_page_says_the_place_until_the_answer_is_there(
    method: str, asked: Request, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two are before it: one at work, one who waits. Greedily its text has a thread of its own."""
    batch, go, places = batch_of(open_checkpoint(asked).model), Event(), set[str]()
    spoken = st.delta_generator.DeltaGenerator.caption

    def caption(self: object, body: str, **more: object) -> object:
        places.add(body)
        return spoken(self, body, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(st.delta_generator.DeltaGenerator, "caption", caption)
    with ThreadPoolExecutor(3) as pool:
        first = pool.submit(hold(asked, go))
        until(lambda: batch.is_at_work and not batch.n_waiting)
        second = pool.submit(hold(asked, go))
        until(lambda: batch.n_waiting == 1)
        app = pool.submit(start, checkpoint="copy", text=ASKED, decoding=method)
        until(lambda: "1 person before you." in places)
        go.set()
        shown: AppTest = app.result()
    assert first.result().text == second.result().text == HELD
    assert not [each.value for each in shown.caption if "before you" in each.value]
    assert shown.session_state["session"].answer.decoding.text == ASKED


def test_who_asks_for_something_else_while_waiting_leaves_the_line(asked: Request) -> None:
    """A page that is drawn anew ends the old run where it says something next."""
    batch, go, told = batch_of(open_checkpoint(asked).model), Event(), Event()

    class Rerun(BaseException):
        pass

    def tell(_: int) -> None:
        told.set()
        raise Rerun

    with ThreadPoolExecutor(3) as pool:
        first = pool.submit(hold(asked, go))
        until(lambda: batch.is_at_work and not batch.n_waiting)
        runner = Runner(on_wait=tell)
        left = pool.submit(make_answer, asked, runner=runner)
        assert told.wait(60)
        go.set()
    assert first.result().text == HELD
    assert isinstance(left.exception(), Rerun)
    assert make_answer(asked).decoding.text == ASKED  # type: ignore[union-attr]


def test_entered_texts_are_decoded_before_previews(asked: Request) -> None:
    batch, go = batch_of(open_checkpoint(asked).model), Event()

    with ThreadPoolExecutor(3) as pool:
        first = pool.submit(hold(asked, go))
        until(lambda: batch.is_at_work and not batch.n_waiting)
        preview = pool.submit(make_answer, asked, runner=Runner(PREVIEW))
        until(lambda: batch.n_waiting == 1)
        later = pool.submit(make_answer, asked)
        until(lambda: batch.n_waiting == 2)
        assert [each.rank for each in batch._waiting] == [ENTERED, PREVIEW]
        go.set()
    texts = [each.result().decoding.text for each in (preview, later)]  # type: ignore[union-attr]
    assert [first.result().text, *texts] == [HELD, ASKED, ASKED]
