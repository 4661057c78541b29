"""The first page by its name: the address that a shell takes opens in a browser, too."""

from urllib.parse import urljoin

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from viz.server import first_picture as first_page

HOST = "http://here"


@pytest.mark.parametrize("base", ["", "a/b"])
@pytest.mark.parametrize("query", ["", "?checkpoint=copy&text=3+7%C3%A4&forbid=x%26y"])
def test_the_name_of_the_first_page_leads_to_the_root(
    base: str, query: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(first_page, "base_path", lambda: base)
    root = f"/{base}/" if base else "/"
    client = TestClient(Starlette(routes=[first_page.first_page_route()]), base_url=HOST)
    address = f"{root}explore{query}"
    answer = client.get(address, follow_redirects=False)
    assert answer.status_code == 307
    assert urljoin(f"{HOST}{address}", answer.headers["location"]) == f"{HOST}{root}{query}"
