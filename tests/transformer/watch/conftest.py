"""Both ways of watching: beside torch's operators, and where it lacks what that needs."""

import pytest

from tests.representatives import MARK
from transformer.watch.capture import operators


@pytest.fixture(params=["operators", "functions"])
def both_ways(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """A test that uses this runs both ways: of each kind of a call and of a module, one does."""
    _watch(request.param, monkeypatch)


@pytest.fixture(params=["operators", pytest.param("functions", marks=MARK)])
def each_way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same of tests of many like modules, the second way thorough."""
    _watch(request.param, monkeypatch)


def _watch(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if way == "functions":
        monkeypatch.setattr(operators, "HAS_KEYS", False)
