"""Who is answered, what a browser is told, and what a public server keeps to its operator."""

from collections.abc import Iterator
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route, WebSocketRoute
from starlette.testclient import TestClient
from starlette.websockets import WebSocket, WebSocketDisconnect
from streamlit.proto.BackMsg_pb2 import BackMsg

from viz.run.operating import COUNTS
from viz.server.guard import STREAM, Guard
from viz.state.state import COOKIE

HOME = "http://localhost:8501"
CLOSED = ("_stcore/metrics", "_stcore/upload_file/a/b", "base/_stcore/metrics", "_stcore/agent/x")
heard: list[str | None] = []


async def answer(request: object) -> PlainTextResponse:
    return PlainTextResponse("whole")


async def stream(socket: WebSocket) -> None:
    await socket.accept()
    try:
        while True:
            told = BackMsg()
            told.ParseFromString(await socket.receive_bytes())
            heard.append(told.WhichOneof("type"))
            await socket.send_text("heard")
    except WebSocketDisconnect:
        pass


@pytest.fixture(autouse=True)
def settings(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name in ("HOSTS", "FRAMES", "MOST_SESSIONS"):
        monkeypatch.delenv(f"HEADSCOPE_{name}", raising=False)
    monkeypatch.setenv("HEADSCOPE_PUBLIC", "no")
    before = dict(COUNTS.values)
    heard.clear()
    yield
    COUNTS.values = before


@pytest.fixture
def client() -> Iterator[TestClient]:
    anything = Route("/{path:path}", answer, methods=["GET", "POST", "PUT"])
    routes: list[Any] = [WebSocketRoute(STREAM, stream), anything]
    with TestClient(Guard(Starlette(routes=routes)), base_url=HOME) as client:
        yield client


def streams(client: TestClient, host: str = "localhost") -> bool:
    try:
        with client.websocket_connect(STREAM, headers={"host": host}):
            return True
    except WebSocketDisconnect:
        return False


def told(kind: str) -> bytes:
    message = BackMsg()
    if kind == "file_urls_request":
        message.file_urls_request.SetInParent()
    else:
        setattr(message, kind, True)
    return message.SerializeToString()


def test_a_browser_is_told_what_it_may_do(client: TestClient, monkeypatch: Any) -> None:
    headers = client.get("/").headers
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "same-origin"
    assert headers["x-frame-options"] == "SAMEORIGIN"
    policy = headers["content-security-policy"]
    assert policy.startswith("default-src 'self' ") and policy.endswith("frame-ancestors 'self'")
    assert "http" not in policy and "*" not in policy
    monkeypatch.setenv("HEADSCOPE_FRAMES", "https://a.example; https://b.example")
    headers = client.get("/").headers
    assert headers["content-security-policy"].endswith("frame-ancestors 'self' https://b.example")
    assert "x-frame-options" not in headers


@pytest.mark.parametrize(
    ("host", "at_home", "listed"),
    [
        *((each, True, False) for each in ("localhost:8501", "127.0.0.1", "[::1]:80", "127.8.8.8")),
        ("app.localhost", True, False),
        *((each, True, True) for each in ("app.example.com", "a.b.example.org.")),
        *((each, False, False) for each in ("evil.example", "192.168.0.7", "example.org", "[")),
        *((each, False, False) for each in ("localhost.evil.example", "127.0.0.1.evil.example")),
    ],
)
def test_names_of_others_are_not_answered(
    client: TestClient, monkeypatch: Any, host: str, at_home: bool, listed: bool
) -> None:
    """A page whose name leads to this machine (DNS rebinding) reaches nothing."""

    def is_answered() -> set[bool]:
        page = client.get("/decode?checkpoint=x", headers={"host": host})
        return {page.status_code == 200, streams(client, host)}

    if not listed:
        assert is_answered() == {at_home}
    monkeypatch.setenv("HEADSCOPE_HOSTS", "app.example.com, *.example.org")
    assert is_answered() == {at_home}
    monkeypatch.setenv("HEADSCOPE_PUBLIC", "yes")
    assert is_answered() == {listed}
    monkeypatch.delenv("HEADSCOPE_HOSTS")
    assert is_answered() == {host != "["}


def test_what_is_the_operators_is_closed_in_public(client: TestClient, monkeypatch: Any) -> None:
    assert {client.get(f"/{path}").status_code for path in CLOSED} == {200}
    monkeypatch.setenv("HEADSCOPE_PUBLIC", "yes")
    assert {client.get(f"/{path}").status_code for path in CLOSED} == {404}
    assert client.put("/_stcore/upload_file/a/b", content=b"x").status_code == 404
    assert client.get("/_stcore/health").status_code == 200


@pytest.mark.parametrize("public", ["yes", "no"])
def test_nobody_empties_the_caches_of_all(
    client: TestClient, monkeypatch: Any, public: str
) -> None:
    monkeypatch.setenv("HEADSCOPE_PUBLIC", public)
    kinds = ["clear_cache", "file_urls_request", "app_heartbeat"]
    passed = kinds if public == "no" else kinds[-1:]
    with client.websocket_connect(STREAM, headers={"host": "localhost"}) as socket:
        for kind in kinds:
            socket.send_bytes(told(kind))
        for _ in passed:
            socket.receive_text()
    assert heard == passed


def test_there_are_so_many_places(client: TestClient, monkeypatch: Any) -> None:
    monkeypatch.setenv("HEADSCOPE_PUBLIC", "yes")
    monkeypatch.setenv("HEADSCOPE_MOST_SESSIONS", "2")
    page = {"accept": "text/html"}
    with client.websocket_connect(STREAM), client.websocket_connect(STREAM):
        assert not streams(client)
        full = client.get("/", headers=page)
        assert full.status_code == 503 and "All 2 places are taken." in full.text
        assert full.headers["retry-after"] == "30"
        assert client.get("/static/a.js").status_code == 200
    assert client.get("/", headers=page).status_code == 200
    assert streams(client)


def test_a_preview_of_a_long_text_is_not_read(client: TestClient, monkeypatch: Any) -> None:
    monkeypatch.setenv("HEADSCOPE_PUBLIC", "yes")
    monkeypatch.setenv("HEADSCOPE_MOST_CHARACTERS", "10")
    assert client.post("/preview/ticket", content=b"x" * 600).status_code == 200
    assert client.post("/preview/ticket", content=b"x" * 700).status_code == 204
    assert client.post("/preview/ticket", content=iter([b"x"])).status_code == 204


def test_a_browser_that_opens_a_page_is_given_a_number_once(client: TestClient) -> None:
    page = {"accept": "text/html,*/*"}
    client.cookies.clear()
    assert "set-cookie" not in client.get("/", headers={"accept": "image/png"}).headers
    said = client.get("/", headers=page).headers["set-cookie"]
    assert said.startswith(f"{COOKIE}=") and "HttpOnly" in said and "SameSite=Lax" in said
    assert len(client.cookies[COOKIE]) == 32
    assert "set-cookie" not in client.get("/", headers=page).headers  # it has one
    client.cookies.clear()
    assert client.get("/", headers=page).headers["set-cookie"] != said
