"""The processes that a command takes are those that the machine has room for."""

import os
from argparse import Namespace

import pytest

from transformer.commands.command import n_jobs


@pytest.mark.parametrize(
    ("jobs", "address", "n"), [(1, "", 1), (2, "", 2), (99, "", 2), (99, "head:6379", 99)]
)
def test_no_more_processes_than_processors(
    jobs: int,
    address: str,
    n: int,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1}, raising=False)
    assert n_jobs(Namespace(jobs=jobs, engine=None, address=address)) == n
    assert ("not 99" in capsys.readouterr().err) == (n != jobs)
