"""Both paths of a training on a CPU, whichever this processor would take."""

import pytest


@pytest.fixture(params=["float32", "bfloat16"])
def precision(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("HEADSCOPE_HALF", "yes" if request.param == "bfloat16" else "no")
    name: str = request.param
    return name
