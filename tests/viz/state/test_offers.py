"""What a page may offer is sought while nobody waits for it, and dropped at the next letter."""

import asyncio
import json
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from threading import Event
from typing import Any, ClassVar

import pytest
from starlette.routing import Router

from tests.viz.state.test_live_preview import address_of, given, live_of, post, posted, start, text
from transformer.edits import Edit
from viz.causes.change import FindChange
from viz.components.kit.browser import unpack
from viz.run.line import IDLE, Runner
from viz.run.previews import OFFER, Offer
from viz.run.work import Study, at_hand
from viz.state import limits, live_preview
from viz.state.preview_route import AGAIN, AS_ENTERED, preview_route

SEEK = json.dumps(OFFER).encode()
WORDS = "She doesn't love him."


@pytest.fixture(autouse=True)
def router(monkeypatch: pytest.MonkeyPatch) -> Router:
    monkeypatch.setattr(live_preview, "_is_served", False)
    return Router([preview_route()])


def button(data: bytes) -> tuple[dict[str, Any] | None, bool]:
    """The button of a mounted component, and whether the browser is to seek it."""
    header, (payload,) = unpack(data)
    return unpack(payload.tobytes())[0]["offer"], header["isSought"]


def test_it_is_sought_once_and_then_at_hand(router: Router) -> None:
    app = start(checkpoint="en-de", text=WORDS)
    assert button(given(app)["change-offer"]) == (None, True)
    status, content = post(router, address_of(app), SEEK)
    assert status == 200
    offer, _ = unpack(content)
    assert offer["parts"] == ["Switch off the 2 heads that carry ", "nicht"]
    assert offer["edits"] == ["head-off:cross.1.7", "head-off:cross.2.7"]
    ready = live_of(app).ready
    assert ready is not None and at_hand(FindChange(ready.answer.request)) is not None
    assert button(given(app.run())["change-offer"]) == (offer, False)
    edited = start(checkpoint="en-de", text=WORDS, edits="/".join(offer["edits"]))
    assert button(given(edited)["change-offer"]) == (None, False)


@pytest.mark.parametrize(
    "query",
    [
        {"checkpoint": "everyday"},
        {"checkpoint": "sentiment"},
        {"checkpoint": "en-de-small", "decoding": "sample"},
    ],
    ids=lambda query: query["checkpoint"],
)
def test_only_what_is_written_without_chance_from_a_source_has_a_place(
    query: dict[str, str],
) -> None:
    assert "change-offer" not in given(start(**query))


@dataclass(frozen=True)
class Waiting(Study[str]):
    """Goes on until it is told, or nobody waits."""

    is_kept: ClassVar[bool] = False
    rank: ClassVar[int] = IDLE
    began: Event = field(default_factory=Event, hash=False, compare=False)

    def run(self, before: str | None, runner: Runner) -> Iterator[str]:
        self.began.set()
        while True:
            yield ""
            Event().wait(0.01)


def test_a_letter_drops_it_and_a_click_does_not(router: Router) -> None:
    app, study = start(), Waiting()
    live = live_of(app)
    assert live.ready is not None
    live.ready = replace(live.ready, offer=Offer(study, str.encode))

    async def everybody() -> None:
        sought = asyncio.create_task(posted(router, address_of(app), SEEK))
        await asyncio.to_thread(study.began.wait, 20)
        click = json.dumps({"edits": [str(Edit("head-off", "cross", (0, 0)))]}).encode()
        assert (await posted(router, address_of(app), click))[0] == 200
        assert not sought.done()
        assert (await posted(router, address_of(app), text("3 4")))[0] == 200
        assert await asyncio.wait_for(sought, 20) == (AGAIN, b"")

    asyncio.run(everybody())
    live.ready = replace(live.ready, offer=None)
    assert post(router, address_of(app), SEEK) == (AS_ENTERED, b"")


def test_on_a_public_server_it_is_counted_for_the_address(monkeypatch: pytest.MonkeyPatch) -> None:
    """A visitor's own runs are for what they ask for."""
    monkeypatch.setenv("HEADSCOPE_PUBLIC", "yes")
    assert button(given(start())["change-offer"]) == (None, True)  # everybody's own
    for most, is_sought in ((2, True), (1, False)):
        times: dict[str, deque[float]] = {}
        monkeypatch.setattr(limits, "_of_address", times)
        monkeypatch.setenv("HEADSCOPE_MOST_RUNS_OF_ADDRESS", str(most))
        app = start(text=f"5 {most} 2 8")
        assert button(given(app)["change-offer"]) == (None, is_sought)
        assert button(given(app.run())["change-offer"]) == (None, is_sought)
        assert len(app.session_state["session"].of(limits.Runs).times) == 1
        assert [len(each) for each in times.values()] == [1 + is_sought]
