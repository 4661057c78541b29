"""Scripts of components at addresses of their own hold what comes within elements elsewhere."""

from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from viz.components.kit.browser import (
    AT,
    FIRST,
    SERVED,
    Component,
    __file__,
    module_of,
    script_address,
    script_files,
)
from viz.server.serving import scripts_route

NAMES = sorted(path.parent.name for path in Path(__file__).parents[1].glob("*/index.js"))


@pytest.fixture
def client(monkeypatch: pytest.MonkeyPatch) -> TestClient:
    monkeypatch.setitem(SERVED, "is_so", False)
    return TestClient(Starlette(routes=[scripts_route()]))


@pytest.mark.parametrize("name", NAMES)
def test_each_component_leads_to_a_file_that_has_it(name: str, client: TestClient) -> None:
    loader = module_of(Component(name))
    (address,) = (script_address(each) for each in script_files() if script_address(each) in loader)
    answer = client.get(address.removeprefix("."))
    assert f"export const {name} = () => {{" in answer.text
    assert answer.headers["content-encoding"] == "gzip"
    assert "immutable" in answer.headers["cache-control"]
    plain = client.get(address.removeprefix("."), headers={"accept-encoding": "identity"})
    assert plain.text == answer.text and "content-encoding" not in plain.headers


def test_where_nobody_serves_files_scripts_come_within_elements(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(SERVED, "is_so", False)
    assert module_of(Component("address")) == Component("address").js


def test_the_components_of_the_first_screen_are_there() -> None:
    assert set(FIRST) < set(NAMES)


def test_there_is_no_other_file(client: TestClient) -> None:
    assert client.get(f"/{AT}/none.js").status_code == 404


def test_the_address_of_another_content_is_not_kept(client: TestClient) -> None:
    answer = client.get(f"/{AT}/first.js?12345678")
    assert answer.status_code == 200 and "immutable" not in answer.headers["cache-control"]
