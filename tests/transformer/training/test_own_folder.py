"""A run's folder is one process's at a time, and nobody's once that is killed."""

import sys
from pathlib import Path

import pytest

from tests import warm
from transformer.training.loop import LOCK, own_folder


def command(work: Path) -> list[str]:
    """A training that goes on until it is killed."""
    folders = ["--work", str(work), "--output", str(work.with_name("output"))]
    return ["train", "copy", "--steps", "1000000", "--device", "cpu", *folders]


def test_a_second_training_is_refused_until_the_first_is_killed(tmp_path: Path) -> None:
    work, said = tmp_path / "work", tmp_path / "stderr"
    first = warm.start(warm.COMMAND, *command(work), folder=tmp_path)
    try:
        while not said.exists() or "training in" not in said.read_text():  # it waits for that
            assert first.is_alive()
            first.join(0.01)
        second = warm.run(warm.COMMAND, *command(work))
        still_trains = first.is_alive()
    finally:
        first.kill()
        first.join()
    assert still_trains
    assert second.returncode == 1 and str(work).encode() in second.stderr
    assert len(second.stderr.splitlines()) == 1
    assert (work / LOCK).exists()
    with own_folder(work):
        pass


def test_where_there_are_no_locks_a_folder_is_made_and_nobody_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "fcntl", None)
    with own_folder(tmp_path / "work"), own_folder(tmp_path / "work"):
        assert (tmp_path / "work").is_dir()
