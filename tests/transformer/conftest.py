"""What several rooms' tests of processes share."""

from collections.abc import Iterator

import pytest

from tests import warm
from transformer.engines import processes


@pytest.fixture
def forked_workers(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The workers of the engine of processes are forks of one that has torch already."""
    monkeypatch.setattr(processes, "get_context", lambda name: warm.CONTEXT)
    with warm.at_hand():
        yield
