"""The page without a server beside the app: its files, their headers, and who is led there."""

import gzip
from collections.abc import Iterator
from pathlib import Path

import pytest
import streamlit as st
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.responses import HTMLResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from viz.server.guard import Guard
from viz.server.live_routes import LiveFirst, live_routes
from viz.server.shell import Shell
from viz.state.live_page import LIVE_PAGE, LivePage, names_for_page

PAGE = "<!doctype html><p>The page</p>" + "x" * 5000
APP = '<title>Streamlit</title><div id="root"></div>'
HTML = {"accept": "text/html"}


@pytest.fixture(autouse=True)
def settings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADSCOPE_PUBLIC", "no")
    monkeypatch.setenv("HEADSCOPE_LIVE", "yes")
    monkeypatch.setattr(LIVE_PAGE, "begin", lambda: None)
    monkeypatch.setattr(LIVE_PAGE, "folders", ())


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "weights").mkdir()
    (tmp_path / "index.html").write_text(PAGE)
    (tmp_path / "index.html.gz").write_bytes(gzip.compress(PAGE.encode()))
    (tmp_path / "weights" / "tiny.model.0.abc.bin").write_bytes(bytes(100_000))
    monkeypatch.setattr(LIVE_PAGE, "folders", (tmp_path,))
    return tmp_path


def client(base: str = "") -> TestClient:
    """Of an app whose other pages are all the same, with the layers of ours."""

    async def app(_: object) -> HTMLResponse:
        return HTMLResponse(APP)

    layers = [Middleware(Guard), Middleware(LiveFirst)]
    layers.append(Middleware(Shell, first_picture=lambda: "", waiting=lambda _: ""))
    routes = [*live_routes(), Route("/{path:path}", app)]
    address = f"http://localhost:8501{base}"
    return TestClient(Starlette(routes=routes, middleware=layers), address, follow_redirects=False)


@pytest.fixture(params=["", "attention/heads"])
def base(request: pytest.FixtureRequest) -> Iterator[str]:
    before = st.get_option("server.baseUrlPath")
    st.config.set_option("server.baseUrlPath", request.param)
    yield f"/{request.param}".rstrip("/")
    st.config.set_option("server.baseUrlPath", before)


@pytest.mark.usefixtures("folder")
def test_the_page_is_asked_again_and_its_weights_are_kept(base: str) -> None:
    asks = client(base)
    page = asks.get("/live/?text=a", headers=HTML)
    assert page.text == PAGE and page.headers["content-encoding"] == "gzip"
    assert page.headers["cache-control"] == "no-cache"
    assert int(page.headers["content-length"]) < len(PAGE)
    plain = asks.get("/live/", headers={"accept-encoding": "identity", **HTML})
    assert plain.text == PAGE and plain.headers["etag"] != page.headers["etag"]
    again = asks.get("/live/", headers={"if-none-match": page.headers["etag"], **HTML})
    assert again.status_code == 304 and not again.content
    part = asks.get("/live/weights/tiny.model.0.abc.bin")
    assert len(part.content) == 100_000 and "immutable" in part.headers["cache-control"]
    assert part.headers["content-encoding"] == "identity"  # nobody compresses it once more
    assert part.headers["content-length"] == "100000"
    short = asks.get("/live?text=a&layer=1", headers=HTML)
    assert (short.status_code, short.headers["location"]) == (307, "./live/?text=a&layer=1")


@pytest.mark.usefixtures("folder")
def test_nothing_beside_the_folder_is_given_and_the_guard_holds() -> None:
    asks = client()
    assert asks.get("/live/weights/none.bin").status_code == 404
    assert asks.get("/live/%2e%2e/%2e%2e/etc/passwd").status_code == 404
    assert asks.get("/live/", headers={"host": "elsewhere.example"}).status_code == 403
    assert "frame-ancestors 'self'" in asks.get("/live/").headers["content-security-policy"]


def test_until_it_is_made_a_page_waits_and_comes_again_by_itself(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    answer = client().get("/live/", headers=HTML)
    assert answer.status_code == 503 and answer.headers["refresh"]
    monkeypatch.setattr(LIVE_PAGE, "has_failed", True)
    assert client().get("/live/", headers=HTML).status_code == 404


@pytest.mark.usefixtures("folder")
def test_no_leaves_the_address_to_the_app(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADSCOPE_LIVE", "no")
    assert 'id="root"' in client().get("/live/", headers=HTML).text


@pytest.mark.usefixtures("folder")
def test_first_leads_to_the_page_until_somebody_asks_for_the_app(
    base: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert client(base).get("/?text=a", headers=HTML).status_code == 200
    monkeypatch.setenv("HEADSCOPE_LIVE", "first")
    asks = client(base)
    led = asks.get("/?text=a&layer=1", headers=HTML)
    assert (led.status_code, led.headers["location"]) == (307, "./live/?text=a&layer=1")
    assert asks.get("/decode?text=a", headers=HTML).status_code == 200  # a page of the app's own
    assert asks.get("/?story=a&role=audience&room=b", headers=HTML).status_code == 200  # a talk's
    asked = asks.get("/?app=yes&text=a", headers=HTML)
    assert 'id="root"' in asked.text
    assert 'id="root"' in asks.get("/?text=a", headers=HTML).text  # the browser is remembered
    monkeypatch.setattr(LIVE_PAGE, "folders", ())
    assert client(base).get("/", headers=HTML).status_code == 200  # it is not made yet


@pytest.mark.usefixtures("folder")
def test_a_server_that_is_full_leads_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADSCOPE_PUBLIC", "yes")
    monkeypatch.setattr(Guard, "_is_full", lambda _: True)
    asks = client()
    full = asks.get("/decode?text=a%22b", headers=HTML)
    assert full.status_code == 503
    assert 'href="./live/?page=decode&amp;text=a%22b"' in full.text
    assert asks.get("/live/", headers=HTML).text == PAGE


def test_a_public_server_gives_away_shipped_weights_only(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    shipped = names_for_page()
    assert shipped[:2] == ("en-de", "en-de-small") and "copy" in shipped
    monkeypatch.setenv("HEADSCOPE_PUBLIC", "yes")
    assert names_for_page() == shipped
    monkeypatch.setattr("viz.state.live_page.shipped_names", lambda: ["own", *shipped])
    assert names_for_page() == shipped
    monkeypatch.setenv("HEADSCOPE_CHECKPOINTS", str(tmp_path))
    assert names_for_page() == ()


def test_it_is_made_once_and_anew_where_a_checkpoint_changes(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "tiny").mkdir()
    (tmp_path / "tiny" / "model.safetensors").write_bytes(b"weights")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("HEADSCOPE_CHECKPOINTS", str(tmp_path))
    monkeypatch.setattr("viz.state.live_page.names_for_page", lambda: ("tiny",))
    made: list[bool] = []  # whether it is whole

    def run(self: LivePage, out: Path, names: tuple[str, ...], without: tuple[str, ...]) -> None:
        made.append(not without)
        (out / "index.html").write_text(PAGE)

    monkeypatch.setattr(LivePage, "_run", run)
    pages = [LivePage() for _ in range(3)]
    for each in pages[:2]:
        each._make()
    assert made == [False, True] and pages[0].folders[0] == pages[1].folders[0]
    assert gzip.decompress((pages[1].folders[0] / "index.html.gz").read_bytes()).decode() == PAGE
    (tmp_path / "tiny" / "model.safetensors").write_bytes(b"others")
    pages[2]._make()
    assert made == [False, True] * 2 and pages[2].folders[0] != pages[1].folders[0]
    assert pages[2].models == ("tiny",)
    assert not list((tmp_path / "cache").rglob("making-*"))
