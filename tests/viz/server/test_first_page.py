"""The names of pages in addresses: those of today, those that they had, and any other."""

from functools import partial
from urllib.parse import urljoin

import pytest
from starlette.testclient import TestClient

from tests.viz.server.test_shell import app
from tests.viz.ui.test_app import PAGES
from viz.screen import FIRST_PAGE, parse
from viz.server import shell
from viz.server.serving import _leads
from viz.spelling import FORMER

HOST = "http://here"
QUERIES = ["", "?checkpoint=copy&text=3+7%C3%A4&forbid=x%26y"]


def led(monkeypatch: pytest.MonkeyPatch, base: str, path: str) -> str:
    """The address at which a browser ends, without the app's own; no page is asked for twice."""
    monkeypatch.setattr(shell, "base_path", lambda: base)
    leads = partial(_leads, lambda: PAGES)
    served = shell.Shell(app(anywhere=True), lambda: "", shell.waiting, leads=leads)
    root = f"{HOST}/{base}/" if base else f"{HOST}/"
    client = TestClient(served, base_url=HOST, headers={"accept": "text/html"})
    answer = client.get(f"{root}{path}", follow_redirects=False)
    if answer.status_code == 200:
        return path
    assert answer.status_code == 307
    to = urljoin(f"{root}{path}", answer.headers["location"])
    assert client.get(to, follow_redirects=False).status_code == 200
    return to.removeprefix(root)


def test_a_page_is_called_in_an_address_as_on_the_screen() -> None:
    """Who gives it another title puts its old name among the former ones."""
    for name, page in PAGES.items():
        assert name == page.name == page.title.lower().replace(" ", "_")
    assert set(FORMER.values()) <= PAGES.keys() and not FORMER.keys() & PAGES.keys()


@pytest.mark.parametrize("base", ["", "a/b"])
@pytest.mark.parametrize("query", QUERIES)
def test_every_page_opens_by_its_name_and_by_those_that_it_had(
    base: str, query: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = {name: "" if name == FIRST_PAGE else name for name in PAGES} | FORMER
    for name, present in names.items():
        assert led(monkeypatch, base, f"{name}{query}") == f"{present}{query}"
        assert led(monkeypatch, base, f"{name}/{query}") == f"{present}{query}"
        assert parse({"page": name}).page == (present or FIRST_PAGE)
    assert led(monkeypatch, base, query) == query


@pytest.mark.parametrize("base", ["", "a/b"])
@pytest.mark.parametrize("name", ["sweeps", "a/deep/one", "Explore", "x%20%26y"])
def test_any_other_name_leads_to_the_first_page_and_is_told(
    base: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = f"page={name.replace('/', '%2F')}"
    assert led(monkeypatch, base, name) == f"?{told}"
    assert led(monkeypatch, base, f"{name}?text=3+7") == f"?text=3+7&{told}"


@pytest.mark.parametrize("base", ["", "a/b"])
def test_a_link_of_the_page_without_a_server_opens_the_page_that_it_names(
    base: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    query = "text=3+7%C3%A4&forbid=x%26y"
    assert led(monkeypatch, base, f"?page=decode&{query}") == f"decode?{query}"
    assert led(monkeypatch, base, f"?{query}&page={FIRST_PAGE}") == f"?{query}"
    assert led(monkeypatch, base, "?page=decode") == "decode"
    assert led(monkeypatch, base, "?page=nowhere") == "?page=nowhere"
