"""Pages that are drawn without a browser."""

from math import inf

import pytest


@pytest.fixture(autouse=True)
def whole_texts(monkeypatch: pytest.MonkeyPatch) -> None:
    """However long a text takes, pages are drawn of all of it: on a busy machine, too."""
    monkeypatch.setattr("viz.ui.writing.PATIENCE", inf)
