"""What a link says before it is opened, on every page: escaped, short, and by no model's run."""

import asyncio
import logging
import struct
from collections.abc import Iterator
from html.parser import HTMLParser
from threading import Event
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient
from streamlit.web.server.starlette.starlette_static_routes import (
    create_streamlit_static_assets_routes,
)

from tests.viz.server.test_recording_scenes import pages
from transformer.discover import discover
from viz.run.cache import CACHE
from viz.run.models.place import Here
from viz.run.request import answer
from viz.server import serving
from viz.server.link_head import (
    FIXED,
    MOST_WAIT,
    PIXELS,
    description_of,
    link_picture_route,
    origin_of,
    screen_of,
)
from viz.server.recording_scenes import request_of_scene
from viz.state import limits
from viz.state.page import PAGES

__all__ = ["pages"]
HOME = "http://localhost:8501"
FIRST = "The animal didn't cross the street"
HOSTILE = {
    "a tag": '"><script>alert(1)</script>',
    "quotes": "\"'`&quot;<!-- --> onload=x",
    "to the left": "\u05e9\u05dc\u05d5\u05dd \u202egnp.exe\u2066",
    "long": "ab " * 1666,
    "one long word": "x" * 5000,
    "controls": "a\x00b\x1b[31m\r\nSet-Cookie: x=y",
    "half a pair": "a\ud83d",
}


class Head(HTMLParser):
    """The title, what `meta` and `link` say, and how many elements of each name there are."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.title, self.says, self.names = "", dict[str, str](), list[str]()
        self._is_title = False
        self.feed(text.partition("</head>")[0])

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        self.names.append(tag)
        self._is_title = tag == "title"
        if name := values.get("property") or values.get("name"):
            assert name not in self.says
            self.says[name] = values["content"] or ""

    def handle_data(self, data: str) -> None:
        self.title += data.strip() if self._is_title else ""

    def handle_endtag(self, tag: str) -> None:
        self._is_title = False


@pytest.fixture(autouse=True)
def at_home(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name in ("HOSTS", "CHECKPOINT"):
        monkeypatch.delenv(f"HEADSCOPE_{name}", raising=False)
    monkeypatch.setenv("HEADSCOPE_STORIES", "no")
    monkeypatch.setenv("HEADSCOPE_PUBLIC", "no")
    monkeypatch.setattr(limits, "_drawn", {})
    before = CACHE.most_bytes
    yield
    CACHE.most_bytes = before


@pytest.fixture
def client() -> Iterator[TestClient]:
    """All that answers, but for the runtime of Streamlit."""
    answers = [*serving.routes(lambda: PAGES), *create_streamlit_static_assets_routes("")]
    app = Starlette(routes=answers, middleware=serving.middleware(lambda: PAGES))
    with TestClient(app, base_url=HOME) as client:
        yield client


@pytest.fixture
def no_model(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every run fails the test."""

    def run(*_: Any) -> None:
        raise AssertionError("a model ran")

    monkeypatch.setattr(Here, "run", run)
    CACHE.clear()


def head_of(client: TestClient, address: str, accept: str = "*/*", **headers: str) -> Head:
    answer = client.get(address, headers={"accept": accept, **headers})
    assert answer.status_code == 200, address
    return Head(answer.text)


@pytest.mark.parametrize("accept", ["*/*", "text/html,application/xhtml+xml"])
def test_every_page_says_what_it_is_of_and_shows(
    client: TestClient, no_model: None, accept: str
) -> None:
    assert len(PAGES) > 10
    for name, page in PAGES.items():
        head = head_of(client, f"/{name}?text=It+rains.&checkpoint=en-de", accept)
        of = "It rains." if page.shows == "sentence" and not page.tells else ""
        assert head.title == " – ".join(filter(None, (of, page.title, "Headscope")))
        description = head.says["description"]
        assert page.subject and description.startswith(page.subject)
        assert description.endswith(".") and ". " not in description.replace("“It rains.”", "")
        assert ("“It rains.”" in description) == bool(of)
        assert head.says["og:title"] == head.title
        assert head.says["og:description"] == head.says["og:image:alt"] == description
        path = "" if name == "explore" else name
        assert head.says["og:url"].startswith(f"{HOME}/{path}?checkpoint=en-de")
        picture = head.says["og:image"]
        assert picture.startswith(f"{HOME}/link.png?") and "text=It%20rains." in picture


def test_the_first_address_is_of_the_first_sentence(client: TestClient, no_model: None) -> None:
    head = head_of(client, "/")
    assert head.title == f"{FIRST} … – Explore – Headscope"
    assert head.says["og:url"] == f"{HOME}/" and head.says["og:image"] == f"{HOME}/link.png"
    described = head_of(client, "/?layer=2&head=1&kind=cross&edits=head-off:cross.0.1")
    assert "head 1 of layer 2 of cross-attention" in described.says["description"]
    assert "with 1 change of the model" in described.says["description"]
    assert head_of(client, "/nowhere").says["og:url"] == f"{HOME}/"  # it leads to the first page


def test_a_story_gives_its_title(client: TestClient) -> None:
    head = head_of(client, "/explore?story=why-attention&scene=2")
    assert head.title == "Why attention? – Explore – Headscope"
    assert "told by “Why attention?”" in head.says["description"]
    assert head_of(client, "/stories?draft=..%2F..%2Fx").title == "Stories – Headscope"


@pytest.mark.parametrize("text", HOSTILE.values(), ids=list(HOSTILE))
def test_hostile_texts_stay_texts_and_short(
    client: TestClient, no_model: None, text: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    plain = head_of(client, "/decode?text=a&checkpoint=b&kind=c&layer=1&head=1&story=d")
    parts = dict.fromkeys(("text", "checkpoint", "kind", "story", "draft"), text)
    query = urlencode({**parts, "layer": "1", "head": "1"}, errors="surrogatepass")
    for name in PAGES:
        head = head_of(client, f"/{name}?{query}")
        assert head.names.count("script") == plain.names.count("script")
        assert set(head.names) == set(plain.names)
        for words in (head.title, *head.says.values()):
            assert len(words) < 2500 and "\u202e" not in words and "\n" not in words
            assert all(each.isprintable() or each in "\u2068\u2069" for each in words)
        assert len(head.title) < 100 and len(head.says["description"]) < 500
        for name in {"og:url", "og:image"} & set(head.says):
            assert head.says[name].isascii() and not set(head.says[name]) & set("\"'<> ")
    logged = "".join(each.getMessage() for each in caplog.records if "httpx" not in each.name)
    assert text[:20] not in logged and quote(text[:20], errors="replace") not in logged


def test_what_is_no_utf8_is_no_fault(client: TestClient, no_model: None) -> None:
    head = head_of(client, "/explore?text=%ff%fe%00%80abc&layer=%ff&%ff=%ff")
    assert "abc – Explore – Headscope" in head.title
    assert "\ufffd" in head.title
    assert head_of(client, "/%ff%fe").title.endswith("Explore – Headscope")


@pytest.mark.parametrize(
    ("host", "origin"),
    [
        ("app.example.com", "http://app.example.com"),
        ("app.example.com:8501", "http://app.example.com:8501"),
        ("[::1]:80", "http://[::1]:80"),
        *((each, None) for each in ('a"><b>', "a b", "a/b", "user@a", "a:b", "", "a\u00e4", "-a")),
    ],
)
def test_a_host_of_odd_characters_is_not_repeated(host: str, origin: str | None) -> None:
    headers = [(b"host", host.encode("latin-1"))]
    scope: dict[str, Any] = {"type": "http", "scheme": "http", "headers": headers}
    assert origin_of(scope) == origin
    assert origin_of({**scope, "headers": headers * 2}) is None
    assert origin_of({**scope, "scheme": "javascript"}) is None


def test_an_odd_host_gets_a_page_without_whole_addresses(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEADSCOPE_PUBLIC", "yes")  # any name is answered
    head = head_of(client, "/decode", host='x"><script>')
    assert not {"og:url", "og:image"} & set(head.says)
    assert '"><script>' not in "".join((head.title, *head.says.values()))
    assert head.title.endswith("Decode – Headscope")
    other = head_of(client, "/decode", host="app.example", **{"x-forwarded-host": "evil.example"})
    assert other.says["og:url"] == "http://app.example/decode"


def test_a_fault_of_the_words_leaves_the_page(
    client: TestClient, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    typed = "".join(("a sec", "ret text"))

    def fails(*_: Any) -> str:
        raise ValueError(typed)

    monkeypatch.setattr("viz.server.link_head.link_head", fails)
    assert head_of(client, "/decode?text=abc").title == "Headscope"
    assert "words of a link" in caplog.text and typed not in caplog.text


def size_of(png: bytes) -> tuple[int, int]:
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    width, height = struct.unpack(">II", png[16:24])
    return width, height


def test_the_picture_is_of_the_address_and_drawn_once(client: TestClient, monkeypatch: Any) -> None:
    head = head_of(client, "/explore?checkpoint=copy&text=3+8+4&layer=1&head=0")
    address = urlsplit(head.says["og:image"])
    asked = f"{address.path}?{address.query}"
    first = client.get(asked)
    assert first.headers["content-type"] == "image/png" and size_of(first.content) == PIXELS
    assert first.content != FIXED.read_bytes()
    monkeypatch.setattr("viz.server.link_drawing.picture_of", lambda _: b"another")
    assert client.get(asked).content == first.content
    assert client.get(asked.replace("layer=1", "layer=0")).content == b"another"


def test_the_fixed_picture_ships_and_stands_for_what_has_none(client: TestClient) -> None:
    assert size_of(FIXED.read_bytes()) == PIXELS and len(FIXED.read_bytes()) < 300_000
    for query in (
        "page=nowhere",
        "page=gallery",
        "page=explore&checkpoint=%2Fetc",
        "page=compare&checkpoint_b=%2Fetc",
        f"text={'a' * 3000}",
        "page=%ff&text=%ff%00",
    ):
        answer = client.get(f"/link.png?{query}")
        assert answer.status_code == 200 and answer.content == FIXED.read_bytes(), query
        assert "max-age=60" in answer.headers["cache-control"]


def test_for_strangers_no_model_runs(client: TestClient, monkeypatch: Any, no_model: None) -> None:
    monkeypatch.setenv("HEADSCOPE_PUBLIC", "yes")
    for name in PAGES:
        answer = client.get(f"/link.png?page={name}&checkpoint=copy&text=7+7+1")
        assert answer.status_code == 200 and size_of(answer.content) == PIXELS


def test_strangers_see_what_is_at_hand_so_many_a_minute(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:

    monkeypatch.setenv("HEADSCOPE_PUBLIC", "yes")
    monkeypatch.setenv("HEADSCOPE_MOST_RUNS", "2")
    answer(request_of_scene(screen_of("explore", "checkpoint=copy&text=4+4+4+9")))
    pictures = [
        client.get(f"/link.png?checkpoint=copy&text=4+4+4+9&kind=cross&layer=1&head={head}").content
        for head in (0, 1, 2, 0)
    ]
    assert pictures[2] == FIXED.read_bytes() != pictures[0] == pictures[3]
    assert pictures[0] != pictures[1]


def test_who_comes_when_many_wait_gets_the_fixed_one(monkeypatch: pytest.MonkeyPatch) -> None:
    go_on, bodies = Event(), list[bytes]()

    def draw(*_: Any) -> bytes:
        go_on.wait(20)
        return b"drawn"

    route = link_picture_route(draw)

    async def ask() -> None:
        async def receive() -> dict[str, str]:
            return {"type": "http.disconnect"}

        async def send(message: Any) -> None:
            bodies.extend(filter(None, [message.get("body")]))

        scope = {"type": "http", "method": "GET", "path": "/link.png", "headers": []}
        await route.handle({**scope, "query_string": b"", "client": ("x", 1)}, receive, send)

    async def crowd() -> None:
        waits = [asyncio.create_task(ask()) for _ in range(MOST_WAIT + 1)]
        while not bodies:
            await asyncio.sleep(0.01)
        go_on.set()
        await asyncio.gather(*waits)

    asyncio.run(crowd())
    assert bodies == [FIXED.read_bytes(), *[b"drawn"] * MOST_WAIT]


@pytest.mark.parametrize(("second", "by"), [("en-de-1", "en-de and en-de-1"), ("/mine", "en-de")])
def test_both_models_are_named_and_no_path(second: str, by: str) -> None:
    page = discover("viz.pages", "PAGE")["compare"]
    says = description_of(screen_of("compare", f"text=It+rains.&checkpoint_b={second}"), page)
    assert says.endswith(f"as read by {by}.")
