"""Streamlit's small scripts in one file: which stand in it, and where a page stays as it is."""

import re
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient
from streamlit.file_util import get_static_dir

from viz.server import shell as first_chunks
from viz.server.shell import ELEMENTS, FIRST_CHUNKS_AT, SMALL, chunks_route, scripts, with_chunks

PAGE = (Path(get_static_dir()) / "index.html").read_bytes()


@pytest.fixture
def client() -> TestClient:
    return TestClient(Starlette(routes=[chunks_route()]))


@pytest.fixture
def other_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in place of Streamlit's, which nobody has read yet."""
    monkeypatch.setattr(first_chunks, "get_static_dir", lambda: str(tmp_path))
    monkeypatch.setattr(first_chunks, "scripts", scripts.__wrapped__)
    (tmp_path / "static" / "js").mkdir(parents=True)
    return tmp_path


def address(page: bytes) -> str:
    return next(iter(re.findall(rb'"\./(chunks\.json\?\w+)"', page))).decode()


def test_the_file_holds_the_small_scripts_as_they_are(client: TestClient) -> None:
    answer = client.get(address(with_chunks(PAGE)))
    assert "immutable" in answer.headers["cache-control"]
    folder = Path(get_static_dir()) / "static" / "js"
    assert len(answer.json()) > 60
    for name, text in answer.json().items():
        assert text == (folder / name).read_text("utf-8") and len(text) <= SMALL
    plain = client.get(FIRST_CHUNKS_AT, headers={"accept-encoding": "identity"})
    assert plain.json() == answer.json() and "content-encoding" not in plain.headers
    assert "immutable" not in plain.headers["cache-control"]  # whatever stands there later


def test_each_kind_of_element_has_a_script_with_all_that_it_imports() -> None:
    """In the version that is installed; in another one, what is missing comes as ever."""
    stems = {name.partition(".")[0] for name in scripts()}
    assert set(ELEMENTS) <= stems
    for text in scripts().values():
        assert set(re.findall(r'from"\./([\w.-]+\.js)"', text)) <= set(scripts())


def test_a_page_asks_for_the_large_ones_by_name() -> None:
    page = with_chunks(PAGE, later=("./scripts/first.js?1",)).decode()
    for name, text in scripts().items():
        assert (f"./static/js/{name}" in page) == (len(text) > SMALL)
    assert "./scripts/first.js?1" in page and "modulepreload" not in page.split("<script>")[0]


def test_a_page_of_another_form_stays_as_it_is(other_version: Path) -> None:
    for page in (b"<html></html>", PAGE):  # and one whose script is not there
        (other_version / "index.html").write_bytes(page)
        assert with_chunks(page) == page


def test_what_a_version_lacks_is_left_out(other_version: Path) -> None:
    (other_version / "index.html").write_bytes(
        b'<script type="module" src="./static/js/index.1.js"></script>'
    )
    script = other_version / "static" / "js" / "index.1.js"
    script.write_text('import"./none.js";')
    assert [*first_chunks.scripts()] == ["index.1.js"]
