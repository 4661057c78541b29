"""Who is offered the page that runs in the browser, and where the offer leads."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event
from urllib.parse import parse_qsl

import pytest
import streamlit as st

from tests.transformer.decoding.test_shared_batch import until
from tests.viz.ui.test_app import start
from tests.viz.ui.test_in_line import ASKED, asked, hold
from viz.run.line import batch_of
from viz.run.pace import PACE
from viz.run.request import Request, make_request, open_checkpoint
from viz.screen import Screen, parse
from viz.state.live_page import LIVE_PAGE
from viz.ui import hand_over
from viz.ui.hand_over import address_there

assert asked  # a fixture


@pytest.fixture(autouse=True)
def page(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HEADSCOPE_LIVE", "yes")
    monkeypatch.setattr(LIVE_PAGE, "begin", lambda: None)
    monkeypatch.setattr(LIVE_PAGE, "folders", (tmp_path,))
    monkeypatch.setattr(LIVE_PAGE, "models", ("en-de", "everyday", "sentiment", "copy"))


def request_of(screen: Screen, method: str = "beam") -> Request:
    checkpoint = screen.checkpoint or "en-de"
    return make_request(checkpoint, screen.text or "It rains.", method, edits=screen.edits)


def test_the_address_says_all_that_is_chosen_and_nothing_of_a_talk() -> None:
    edits = "head-off:cross.1.2/hide:encoder_self.1"
    said = {"text": "Who, me?", "layer": "2", "pins": "q3", "edits": edits}
    talk = {"story": "why-attention", "scene": "3", "role": "audience", "room": "abc"}
    screen = parse({**said, **talk, "page": "explore"})
    there = address_there(screen, request_of(screen))
    assert there.startswith("./live/?")
    assert dict(parse_qsl(there.partition("?")[2])) == {**said, "checkpoint": "en-de"}
    decode = parse({**said, "page": "decode"})
    assert "page=decode" in address_there(decode, request_of(decode))


@pytest.mark.parametrize(
    "query",
    [
        {"page": "positions", "text": "It rains."},
        {"checkpoint": "en-de-1", "text": "It rains."},
        {"checkpoint": "everyday", "decoding": "sampling"},
        {"options.beam_size": "8"},
        {"edits": "head-mean:cross.1.2"},
        {"lens": "rollout"},
    ],
)
def test_what_the_page_does_not_do_is_not_offered(query: dict[str, str]) -> None:
    screen = parse({"page": "explore", **query})
    assert address_there(screen, request_of(screen, query.get("decoding", "beam"))) == ""


def test_nothing_is_offered_where_it_is_off_or_not_made(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = parse({"page": "explore"})
    assert address_there(screen, request_of(screen))
    monkeypatch.setenv("HEADSCOPE_LIVE", "no")
    assert address_there(screen, request_of(screen)) == ""
    monkeypatch.setenv("HEADSCOPE_LIVE", "yes")
    monkeypatch.setattr(LIVE_PAGE, "models", ())
    assert address_there(screen, request_of(screen)) == ""


@pytest.mark.parametrize(("estimate", "long"), [(0.0, 0.4), (60.0, 30.0)])
def test_whoever_waits_or_will_wait_is_offered_it_once(
    estimate: float, long: float, asked: Request, monkeypatch: pytest.MonkeyPatch
) -> None:
    """asked: a model with room for one text, which another one has."""
    batch, go, offers = batch_of(open_checkpoint(asked).model), Event(), list[str]()
    drawn = st.delta_generator.DeltaGenerator.html

    def html(self: object, body: str, **more: object) -> object:
        offers.extend([body] * ("<a data-typed" in str(body)))
        return drawn(self, body, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(st.delta_generator.DeltaGenerator, "html", html)
    monkeypatch.setattr(hand_over, "LONG", long)
    monkeypatch.setattr(PACE, "estimate", lambda: estimate)
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(hold(asked, go))
        until(lambda: batch.is_at_work)
        app = pool.submit(start, checkpoint="copy", text=ASKED)
        until(lambda: bool(offers))
        go.set()
        assert not app.result().exception
    assert first.result()
    assert len(offers) == 1 and f"text={ASKED.replace(' ', '%20')}" in offers[0]


@pytest.mark.parametrize("live", ["yes", "no"])
def test_a_phone_of_a_talk_types_in_its_own_browser_where_there_is_one(
    live: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEADSCOPE_LIVE", live)
    scene = {"story": "attention-is-all-you-need", "checkpoint": "copy", "text": ASKED}
    for role, leads in (("audience", live == "yes"), ("stage", False)):
        app = start(**scene, role=role)
        links = [each.body for each in app.get("html") if "<a data-typed" in each.body]
        fields = [each.label for each in app.text_input]
        assert (bool(links), "Sentence" in fields) == (leads, not leads), role
        assert all("./live/?checkpoint=copy&amp;text=5%205" in each for each in links)
