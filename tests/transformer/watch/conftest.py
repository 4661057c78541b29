"""Both ways of watching: beside torch's operators, and where it lacks what that needs."""

import pytest

from transformer.watch.capture import operators


@pytest.fixture(params=["operators", "functions"])
def each_way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """A test that uses this runs both ways."""
    if request.param == "functions":
        monkeypatch.setattr(operators, "HAS_KEYS", False)
