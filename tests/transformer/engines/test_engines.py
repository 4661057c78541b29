"""Whoever does the shards: the same bytes, none twice, and the errors of a worker are one's own."""

import os
import signal
import time
from pathlib import Path

import pyarrow.parquet
import pytest
import torch

from tests import warm
from tests.representatives import thorough
from tests.transformer.engines.jobs import LEFT, Lengths, fail
from transformer.corpus.shards import missing, shards_of
from transformer.engines.engine import EngineError, Resources, attempt, check_machine, marks_of
from transformer.engines.processes import HERE_ENGINE as here
from transformer.engines.processes import PROCESSES_ENGINE as processes
from transformer.inputs import InputError

LINES = [f"line {i:3}" for i in range(40)]
SHARDS = list(shards_of(LINES, 8))
TWO = Resources(jobs=2)
forked = pytest.mark.usefixtures("forked_workers")


def contents(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.glob("*.parquet")}


@pytest.mark.thorough
def test_processes_write_what_one_process_writes(tmp_path: Path) -> None:
    alone = list(here.run(Lengths(tmp_path / "here"), SHARDS))
    together = list(processes.run(Lengths(tmp_path / "processes"), SHARDS, TWO))
    assert [done.number for done in alone] == [0, 1, 2, 3, 4]
    assert sorted(done.number for done in together) == [0, 1, 2, 3, 4]
    assert contents(tmp_path / "here") == contents(tmp_path / "processes") != {}
    pids = {done.result[0] for done in together}
    assert len(pids) <= 2 and os.getpid() not in pids
    assert {done.result[1:] for done in together} == {(1, "1")}


def test_here_gives_the_threads_back(tmp_path: Path) -> None:
    before = torch.get_num_threads()
    (done,) = here.run(Lengths(tmp_path), SHARDS[:1], Resources(threads=before + 1))
    assert done.result[1] == before + 1 and torch.get_num_threads() == before


@forked
@pytest.mark.parametrize("engine", [here, processes])
def test_a_refusal_of_a_job_is_raised_here(engine: type(here), tmp_path: Path) -> None:
    (shard,) = shards_of(["refuse the line"])
    with pytest.raises(InputError, match=r"^the line cannot be read\.$"):
        list(engine.run(Lengths(tmp_path), [shard]))


def test_an_error_is_sent_with_where_it_was() -> None:
    error = attempt(lambda: fail(Path(), "by nothing"))
    assert isinstance(error, RuntimeError)
    assert "ZeroDivisionError('by nothing')" in str(error) and "jobs.py" in str(error)


@pytest.mark.parametrize("engine", [here, processes])
def test_without_shards_nothing_is_opened(engine: type(here), tmp_path: Path) -> None:
    assert list(engine.run(Lengths(tmp_path, opens=False), [])) == []


@forked
def test_after_a_killed_worker_another_does_its_shard(tmp_path: Path) -> None:
    shards = list(shards_of(["a", "kill once", "b", "c"], 1))
    result = list(processes.run(Lengths(tmp_path), shards, TWO))
    assert sorted(done.number for done in result) == [0, 1, 2, 3]
    table = pyarrow.parquet.read_table(tmp_path)
    assert sorted(table["line"].to_pylist()) == [0, 1, 2, 3]


@forked
def test_lines_that_kill_two_workers_are_named(tmp_path: Path) -> None:
    shards = list(shards_of(["a", "kill"], 1))
    with pytest.raises(EngineError, match=r"over line 2 .*signal 9"):
        list(processes.run(Lengths(tmp_path), shards))
    assert missing(shards, tmp_path) == shards[1:]


@forked
def test_a_model_that_kills_two_workers_is_said(tmp_path: Path) -> None:
    with pytest.raises(EngineError, match="before they had opened"):
        list(processes.run(Lengths(tmp_path, opens=False), SHARDS))


def test_a_machine_with_another_version_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HEADSCOPE_PRECISION", raising=False)
    here = marks_of(Path("checkpoints/copy"))
    check_machine(here, here)
    with pytest.raises(EngineError, match=r"has torch '2\.0', and this machine"):
        check_machine(here, here | {"torch": "2.0"})
    with pytest.raises(EngineError, match="checkpoint"):
        check_machine(here, marks_of(Path("checkpoints/en-de")))
    monkeypatch.setenv("HEADSCOPE_PRECISION", "bfloat16")
    with pytest.raises(EngineError, match="has HEADSCOPE_PRECISION 'bfloat16'"):
        check_machine(here, marks_of(Path("checkpoints/copy")))


DRIVER = """
import os, signal, sys
from pathlib import Path
from tests import warm
from tests.transformer.engines.jobs import LEFT, Lengths
from transformer.corpus.shards import shards_of
from transformer.discover import discover
from transformer.engines import processes
from transformer.engines.engine import Resources

os.setsid()
# A shell's job in the background, as this suite may be, has its interrupts ignored.
signal.signal(signal.SIGINT, signal.default_int_handler)
folder, number = Path(sys.argv[1]), int(sys.argv[2])
if number == signal.SIGKILL:
    # Ctrl-C reaches all processes of a session: then its workers are its own.
    processes.get_context = lambda name: warm.CONTEXT
engine = discover("transformer.engines", "ENGINE")["processes"]
for done in engine.run(Lengths(folder), list(shards_of(LEFT, 1)), Resources(jobs=2)):
    print(done.number, done.result[0], flush=True)
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, thorough(signal.SIGINT)])
def test_a_driver_that_ends_leaves_whole_parts_and_no_worker(number: int, tmp_path: Path) -> None:
    """The same command does the rest: what there is stays as it is."""
    out = tmp_path / "out"
    driver = warm.start(DRIVER, out, int(number), folder=tmp_path)
    said = ""
    while len(list(out.glob(".hung-*"))) < 2 or said.count("\n") < 2:  # both workers are at work
        assert driver.is_alive()
        driver.join(0.01)
        said = (tmp_path / "stdout").read_text() if (tmp_path / "stdout").exists() else ""
    pids = {int(line.split()[1]) for line in said.splitlines()}
    before = {file: file.stat().st_mtime_ns for file in out.glob("*.parquet")}
    began = time.monotonic()
    # Ctrl-C reaches all processes of a shell's command, a kill the one that it is given.
    (os.kill if number == signal.SIGKILL else os.killpg)(driver.pid, number)
    driver.join()
    while any(Path(f"/proc/{pid}").exists() for pid in pids):
        assert time.monotonic() - began < 10  # not the half minute of what was at work
    assert len(before) == 2 and len(list(out.glob(".hung-*"))) == 2
    assert not list(out.glob(".*.part"))
    left = missing(shards_of(LEFT, 1), out)
    assert [done.number for done in here.run(Lengths(out), left)] == [2, 3, 4]
    after = {file: file.stat().st_mtime_ns for file in out.glob("*.parquet")}
    assert len(after) == 5 and before.items() <= after.items()
