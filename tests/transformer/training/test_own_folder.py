"""A run's folder is one process's at a time, and nobody's once that is killed."""

import subprocess
import sys
from pathlib import Path

import pytest

from transformer.training.own_folder import LOCK, own_folder


def command(work: Path) -> list[str]:
    """A training that goes on until it is killed."""
    folders = ["--work", str(work), "--output", str(work.with_name("output"))]
    steps = ["--steps", "1000000", "--device", "cpu"]
    return [sys.executable, "-m", "transformer", "train", "copy", *steps, *folders]


def test_a_second_training_is_refused_until_the_first_is_killed(tmp_path: Path) -> None:
    work = tmp_path / "work"
    with subprocess.Popen(command(work), stderr=subprocess.PIPE, text=True) as first:
        try:
            assert first.stderr is not None
            assert any("training in" in line for line in first.stderr)  # it waits for that
            second = subprocess.run(
                command(work), capture_output=True, text=True, check=False, timeout=300
            )
            still_trains = first.poll() is None
        finally:
            first.kill()
    assert still_trains
    assert second.returncode == 1 and str(work) in second.stderr
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
