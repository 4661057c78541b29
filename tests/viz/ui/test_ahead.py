"""A link's part of a page: what the page draws there, and only where nothing else changes."""

import asyncio
import re
from html import unescape
from urllib.parse import parse_qsl

import pytest
from starlette.routing import Router
from streamlit.testing.v1 import AppTest

from tests.representatives import cases
from tests.viz.ui.test_app import ROOT, screen, start
from transformer.refusal import Refusal
from viz.screen import put, query
from viz.state import live_preview
from viz.state.focus import at_head
from viz.state.live_preview import of_session
from viz.state.preview_route import AS_ENTERED, preview_route

SURVEYED = sorted(each.parent.name for each in (ROOT / "checkpoints").glob("*/survey"))
FEW = {"two stacks": "copy", "one stack": "shakespeare", "an encoder": "sentiment"}
PART = re.compile(r'<div data-ahead="([^"]+)" data-at="([^"]*)">(.*)</div>', re.DOTALL)


@pytest.fixture(autouse=True)
def router(monkeypatch: pytest.MonkeyPatch) -> Router:
    """The server's part, beside an app whose sessions think that it is there."""
    monkeypatch.setattr(live_preview, "_is_served", False)
    return Router([preview_route()])


def opened(name: str, **more: str) -> AppTest:
    return start(page="heads", **{"checkpoint": name, "heads_of": "one"} | more)


def drawn(app: AppTest) -> tuple[str, str, str]:
    """The address that answers, the query and the part, as a page drew them."""
    parts = [PART.fullmatch(each.proto.body) for each in app.get("html")]
    (part,) = filter(None, parts)
    address, at, body = part.groups()
    return address, unescape(at), body


def asked(router: Router, path: str, query: str) -> tuple[int, str]:
    """Status and content of what a server would answer."""
    sent: list[dict[str, object]] = []

    async def receive() -> dict[str, object]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: dict[str, object]) -> None:
        sent.append(message)

    where = {"type": "http", "method": "GET", "path": path, "headers": []}
    asyncio.run(router({**where, "query_string": query.encode()}, receive, send))
    return int(str(sent[0]["status"])), b"".join(each.get("body", b"") for each in sent).decode()


@pytest.mark.parametrize("checkpoint", cases(SURVEYED, FEW))
def test_a_link_is_answered_with_what_its_page_draws(router: Router, checkpoint: str) -> None:
    app = opened(checkpoint)
    address, _, body = drawn(app)
    nav = body[: body.index("More of this head")]
    links = [unescape(each) for each in re.findall(r'<a data-state href="([^"]+)">', nav)]
    assert links
    for each in {links[0], links[len(links) // 2], links[-1]}:
        _, _, there = each.partition("?")
        status, part = asked(router, address, there)
        other = drawn(opened(checkpoint, **dict(parse_qsl(there))))
        answer = PART.fullmatch(part)
        assert status == 200 and answer is not None and answer[3] != body
        assert answer[3] == other[2] and unescape(answer[2]) == other[1] == there


def test_a_link_that_changes_more_has_no_part_by_itself(router: Router) -> None:
    app = opened("copy")
    here, (address, _, _) = screen(app), drawn(app)
    head = at_head(here, ("cross", 0, 1))
    assert asked(router, address, query(head))[0] == 200
    for other in (
        {"checkpoint": "en-de"},
        {"heads_of": "all"},
        {"text": "1 2"},
        {"tokens": "pieces"},
    ):
        assert asked(router, address, query(put(head, **other))) == (AS_ENTERED, "")


def test_who_is_gone_and_what_is_refused_is_left_to_the_page(
    router: Router, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = opened("copy")
    address, at, _ = drawn(app)
    assert asked(router, address + "x", at) == (AS_ENTERED, "")
    live = of_session(address.rpartition("/")[2])
    assert live is not None

    def refuse(asked: str) -> str:
        raise Refusal("It is gone.")

    live.there = refuse
    assert asked(router, address, at) == (AS_ENTERED, "")
    live.there = None
    assert asked(router, address, at) == (AS_ENTERED, "")
