"""Pages that are drawn without a browser."""

import gc
from collections.abc import Iterator
from math import inf
from types import SimpleNamespace

import pytest


@pytest.fixture(autouse=True)
def whole_texts(monkeypatch: pytest.MonkeyPatch) -> None:
    """However long a text takes, pages are drawn of all of it: on a busy machine, too."""
    monkeypatch.setattr("viz.run.writing.PATIENCE", inf)


@pytest.fixture(scope="session", autouse=True)
def what_is_frozen_stays_so() -> Iterator[None]:
    """Each test opens a checkpoint, and all objects of all tests would be looked at each time."""
    with pytest.MonkeyPatch.context() as patch:
        here = SimpleNamespace(unfreeze=lambda: None, collect=gc.collect, freeze=gc.freeze)
        patch.setattr("viz.run.request.gc", here)
        yield
