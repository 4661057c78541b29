"""Small copies of the typefaces come first, and hold what we and Streamlit write by ourselves."""

import re
from pathlib import Path

import pytest
import streamlit
from starlette.applications import Starlette
from starlette.responses import HTMLResponse
from starlette.testclient import TestClient

from viz.server.shell import FIRST_FONTS_AT, FOLDER, ROOT, Shell, faces, fonts_route, waiting

STREAMLIT = Path(streamlit.__file__).parent
VIZ = Path(__file__).parents[3] / "viz"
PAGE = '<head><link rel="preload" href="./a.woff2" as="font" /></head><body>{root}</body>'


@pytest.fixture
def client() -> TestClient:
    app = Starlette(routes=[fonts_route()])
    app.add_route("/", lambda _: HTMLResponse(PAGE.format(root=ROOT.decode())))
    return TestClient(Shell(app, lambda: "", waiting, ahead=faces()))


def test_every_icon_that_is_named_is_among_the_copies() -> None:
    files = [*VIZ.rglob("*.py"), *(STREAMLIT / "static" / "static" / "js").glob("*.js")]
    code = "".join(file.read_text("utf-8") for file in files)
    icons = set((FOLDER / "icons.txt").read_text("utf-8").split())
    named = set(re.findall(r":material/([a-z0-9_]+):", code))
    known_to_nobody = {"star_filled"}  # Streamlit names it, and its own file lacks it
    assert len(named) > 50
    assert named - icons <= known_to_nobody, "run .ci/subset_fonts.py again"


def test_the_page_asks_for_the_copies_and_no_longer_for_the_whole(client: TestClient) -> None:
    page = client.get("/", headers={"accept": "text/html"}).text
    assert "a.woff2" not in page
    addresses = re.findall(rf'url\("(\./{FIRST_FONTS_AT}/[^"]+)"\)', page)
    assert len(addresses) == 3
    for address in addresses:
        answer = client.get(address)
        assert answer.content.startswith(b"wOF2")
        assert "immutable" in answer.headers["cache-control"]
        other = client.get(f"{address}0")
        assert other.content == answer.content and "immutable" not in other.headers["cache-control"]


@pytest.mark.parametrize("name", ["faces.css", "none.woff2", "..%2Fshell.py"])
def test_nothing_else_is_sent(name: str, client: TestClient) -> None:
    assert client.get(f"/{FIRST_FONTS_AT}/{name}").status_code == 404


def codes(text: str) -> set[int]:
    parts = re.findall(r"U\+([0-9A-F]+)(?:-([0-9A-F]+))?", text)
    return {code for a, b in parts for code in range(int(a, 16), int(b or a, 16) + 1)}


def test_each_letter_is_in_the_copy_or_in_the_whole_or_in_neither() -> None:
    copy = codes((FOLDER / "faces.css").read_text("utf-8").splitlines()[0])
    others = codes((FOLDER / "others.txt").read_text("utf-8"))
    assert not copy & others
    assert {ord(letter) for letter in "ßł→Σ√⁻“▾"} <= copy
    assert {ord(letter) for letter in "ЖΩ"} <= others
    assert not {ord(letter) for letter in "▁い"} & (copy | others)
