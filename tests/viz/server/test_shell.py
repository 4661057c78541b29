"""What is sent before the app runs: compressed files, and a page with a first picture."""

import re
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import pytest
from starlette.applications import Starlette
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.testclient import TestClient
from starlette.types import Receive, Scope, Send

from transformer import Recording
from transformer.analysis.reading import Reading, read
from viz.server.first_picture import LINES, arrows, first_picture
from viz.server.shell import LONGEST, ROOT, TITLE, Shell, waiting

SCRIPT = "let a = 1;" * 1000
FOREVER = {"etag": "x", "cache-control": "public, immutable"}
PAGE = f"<html><head>{TITLE.decode()}</head><body>{ROOT.decode()}</body></html>"
asked: list[str] = []


def app(anywhere: bool = False) -> Starlette:
    """Of Streamlit's kind. anywhere: it sends its page for each name that it does not know."""

    def script(request: object) -> Response:
        asked.append("script")
        return PlainTextResponse(SCRIPT, headers=FOREVER, media_type="text/javascript")

    def font(request: object) -> Response:
        return Response(b"1234", media_type="font/woff2")

    def page(request: object) -> Response:
        return HTMLResponse(PAGE)

    routes = [
        Route("/static/a.js", script),
        Route("/static/a.woff2", font),
        Route("/", page),
        Route("/decode", page),
        *[Route("/{name:path}", page)] * anywhere,
    ]
    return Starlette(routes=routes)


@pytest.fixture
def client() -> Iterator[TestClient]:
    asked.clear()
    with TestClient(Shell(app(), lambda: "<i>picture</i>", waiting)) as client:
        yield client


def test_a_script_is_compressed_once_and_the_same(client: TestClient) -> None:
    for _ in range(2):
        answer = client.get("/static/a.js", headers={"accept-encoding": "gzip"})
        assert answer.headers["content-encoding"] == "gzip" and answer.text == SCRIPT
        assert int(answer.headers["content-length"]) < len(SCRIPT) / 10
        assert "etag" not in answer.headers  # of other bytes
    assert asked == ["script"]


@pytest.mark.parametrize("says_more", [True, False])
def test_a_file_that_broke_off_is_not_kept(says_more: bool) -> None:
    """As where the first browser that asked for it went away."""
    parts = iter([SCRIPT[:100], SCRIPT, SCRIPT])

    async def breaks_off(scope: Scope, receive: Receive, send: Send) -> None:
        body = next(parts).encode()
        length = (b"content-length", str(len(SCRIPT)).encode())
        kind, kept = (b"content-type", b"text/javascript"), (b"cache-control", b"immutable")
        await send({"type": "http.response.start", "status": 200, "headers": [length, kind, kept]})
        more = says_more and len(body) < len(SCRIPT)
        await send({"type": "http.response.body", "body": body, "more_body": more})

    shell = Shell(breaks_off, lambda: "", waiting)
    gzip = {"accept-encoding": "gzip"}
    client = TestClient(shell)
    client.get("/static/a.js", headers=gzip)
    assert shell.files == {}
    assert client.get("/static/a.js", headers=gzip).text == SCRIPT
    assert [*shell.files] == ["/static/a.js"]


def test_who_takes_no_gzip_and_what_is_small_already_are_left_alone(client: TestClient) -> None:
    plain = client.get("/static/a.js", headers={"accept-encoding": "identity"})
    assert plain.text == SCRIPT and "content-encoding" not in plain.headers
    font = client.get("/static/a.woff2", headers={"accept-encoding": "gzip"})
    assert font.content == b"1234" and "content-encoding" not in font.headers
    missing = client.get("/static/none.js", headers={"accept-encoding": "gzip"})
    assert missing.status_code == 404


@pytest.mark.parametrize(
    ("path", "has_picture"), [("/", True), ("/?text=It", False), ("/decode", False)]
)
def test_the_first_screen_comes_with_a_picture(
    client: TestClient, path: str, has_picture: bool
) -> None:
    answer = client.get(path, headers={"accept": "text/html"})
    assert ("<i>picture</i>" in answer.text) == has_picture
    assert "<title>Headscope</title>" in answer.text and ROOT.decode() in answer.text


def test_the_picture_is_the_one_that_the_app_begins_with(recording: Recording) -> None:
    map = read(recording, "cross", Reading(words=True))
    image = ElementTree.fromstring(arrows(map, 0, 1))
    texts = [node.text for node in image.iter("text")]
    assert texts == [token.piece for token in (*map.rows, *map.columns)]
    weights = map.values(0, 1)
    lines = list(image.iter("path"))
    assert len(lines) == weights.size(0) * min(LINES, weights.size(1))
    opacities = [float(line.attrib["opacity"]) for line in lines]
    assert max(opacities) == pytest.approx(float(weights.max()) ** 0.5, abs=0.01)


def test_another_screen_comes_with_the_sentence_that_it_is_of(client: TestClient) -> None:
    headers = {"accept": "text/html"}
    answer = client.get("/?text=I+see+%3Cb%3Ea+dog%3C%2Fb%3E.", headers=headers)
    assert '<p dir="auto">I see &lt;b&gt;a dog&lt;/b&gt;.</p>' in answer.text
    assert "Loading the app" in client.get("/decode", headers=headers).text
    assert len(waiting(f"text={'a' * 10**6}")) < len(waiting("")) + LONGEST + 1
    assert waiting("text=%ff%00&layer=x&text") != ""


def test_the_first_picture_is_of_the_first_example() -> None:
    made = first_picture()
    assert "The animal didn&#x27;t cross the street" in made
    assert re.search(r"While writing \w+, head 2 of layer 2 looks at \w+ \(0\.\d{3}\)", made)
    assert "$" not in re.sub(r"\$\{", "", made)


def test_without_a_checkpoint_there_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEADSCOPE_CHECKPOINTS", str(tmp_path))
    assert first_picture() == ""
