"""A local Ray: equal bytes, loopback alone, nothing left behind; clusters that are refused.

`sh tests/cluster/install.sh` makes the environment that these run in: .venv-cluster.
"""

import json
import os
import re
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import IO

import pytest

from tests.transformer.engines.jobs import Lengths
from transformer.corpus.shards import missing, shards_of
from transformer.engines.engine import EngineError, Resources
from transformer.engines.processes import HERE_ENGINE as here
from transformer.engines.ray import ENGINE as engine

pytestmark = pytest.mark.skipif(
    find_spec("ray") is None, reason="ray is not installed: sh tests/cluster/install.sh"
)
ROOT = Path(__file__).parents[2]
LINES = ("a", "b", "kill once", "c", "d")
LEFT = ("a", "b", "hang 1", "hang 2", "e")
LOOPBACK = {"0100007F", "0000000000000000FFFF00000100007F"}
"""127.0.0.1, and the same among addresses of the sixth version, as the kernel writes them."""
DRIVER = """
import os, sys
from pathlib import Path
from tests.cluster import test_ray
from tests.transformer.engines.jobs import Lengths
from transformer.corpus.shards import shards_of
from transformer.engines.engine import Resources
from transformer.engines.ray import ENGINE

job = Lengths(Path(sys.argv[1]), Path("checkpoints/copy").absolute())
shards = list(shards_of(getattr(test_ray, sys.argv[2]), 1))
for n, done in enumerate(ENGINE.run(job, shards, Resources(2, 1, sys.argv[3])), 1):
    print(done.number, done.result[0], os.environ["RAY_AUTH_TOKEN"], flush=True)
    if n == len(shards):
        input()
"""
"""Tells of each shard, and after the last one ends when it is told to."""


@contextmanager
def driver(
    folder: Path, lines: str, address: str = "", **variables: str
) -> Iterator[subprocess.Popen[str]]:
    """A process that runs the job, in a home of its own; what it starts has MARK, too."""
    (folder / "home").mkdir()
    script = folder / "driver.py"
    script.write_text(DRIVER)
    paths = {"PYTHONPATH": str(ROOT), "HOME": str(folder / "home"), "MARK": str(folder)}
    command = [sys.executable, str(script), str(folder / "out"), lines, address]
    with subprocess.Popen(
        command,
        env={**os.environ, **paths, **variables},
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def pipe(stream: IO[str] | None) -> IO[str]:
    assert stream is not None
    return stream


def of_job(folder: Path) -> list[Path]:
    """The processes of a job, by what they have inherited."""
    return [
        each for each in Path("/proc").glob("[0-9]*") if f"MARK={folder}" in text(each / "environ")
    ]


def text(file: Path) -> str:
    try:
        return file.read_text(errors="replace")
    except OSError:  # it has ended, or is not ours
        return ""


def folders_of(processes: list[Path]) -> set[Path]:
    """The folders of logs and sockets that a local Ray has."""
    commands = " ".join(text(each / "cmdline") for each in processes)
    return {Path(each) for each in re.findall(r"/tmp/hs-\w+", commands)}


def listening(processes: list[Path]) -> dict[str, str]:
    """Address as the kernel writes it -> the process that listens there."""
    sockets = {}
    for family in ("tcp", "tcp6"):
        for line in text(Path("/proc/net") / family).splitlines()[1:]:
            _, address, _, state, *rest = line.split()
            if state == "0A":
                sockets[f"socket:[{rest[5]}]"] = address
    addresses = {}
    for process in processes:
        for each in (process / "fd").iterdir():
            try:
                link = str(each.readlink())
            except OSError:
                continue
            if link in sockets:
                addresses[sockets[link]] = text(process / "cmdline")[:60]
    return addresses


def contents(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.glob("*.parquet")}


def finish(folder: Path, lines: Sequence[str]) -> list[int]:
    """Do in this process what is left; return the numbers of these shards."""
    left = missing(shards_of(lines, 1), folder)
    return [done.number for done in here.run(Lengths(folder), left)]


def test_a_local_ray_writes_the_same_bytes_at_loopback_and_leaves_nothing(tmp_path: Path) -> None:
    """One of its workers is killed on the way."""
    with driver(tmp_path, "LINES") as process:
        reports = [pipe(process.stdout).readline().split() for _ in LINES]
        processes = of_job(tmp_path)
        addresses = listening(processes)
        commands = [text(each / "cmdline") for each in processes]
        temporary = folders_of(processes)
        logs = [text(file) for each in temporary for file in each.rglob("*") if file.is_file()]
        usage = [file for each in temporary for file in each.rglob("*usage_stats*")]
        process.communicate("\n", timeout=60)
        assert process.returncode == 0
    assert sorted(int(number) for number, *_ in reports) == list(range(len(LINES)))
    assert len({pid for _, pid, _ in reports}) >= 2
    assert len(processes) > 4 and len(addresses) > 4
    assert {address.partition(":")[0] for address in addresses} <= LOOPBACK, addresses
    token = reports[0][2]
    assert len(token) == 64 and not [each for each in (*commands, *logs) if token in each]
    assert list((tmp_path / "home").iterdir()) == usage == []
    assert len(temporary) == 1 and len(logs) > 4 and not any(each.exists() for each in temporary)
    (tmp_path / "here").mkdir()
    (tmp_path / "here" / ".killed").touch()
    assert finish(tmp_path / "here", LINES) == list(range(len(LINES)))
    assert contents(tmp_path / "out") == contents(tmp_path / "here") != {}


def test_after_a_kill_of_the_driver_the_rest_is_done_once(tmp_path: Path) -> None:
    with driver(tmp_path, "LEFT") as process:
        pids = {pipe(process.stdout).readline().split()[1] for _ in range(2)}
        out = tmp_path / "out"
        while len(list(out.glob(".hung-*"))) < 2:  # both workers are at work
            assert process.poll() is None
            time.sleep(0.1)
        before = {file: file.stat().st_mtime_ns for file in out.glob("*.parquet")}
        temporary = folders_of(of_job(tmp_path))
        process.kill()
    left = time.monotonic() + 25  # not the half minute of what was at work
    while any(Path("/proc", pid).exists() for pid in pids):
        assert time.monotonic() < left
        time.sleep(0.1)
    for each in of_job(tmp_path):  # agents of Ray stay for a minute or two
        with suppress(ProcessLookupError):
            os.kill(int(each.name), signal.SIGKILL)
    for folder in temporary:
        shutil.rmtree(folder, ignore_errors=True)
    assert len(before) == 2 and finish(out, LEFT) == [2, 3, 4]
    after = {file: file.stat().st_mtime_ns for file in out.glob("*.parquet")}
    assert len(after) == 5 and before.items() <= after.items()


def test_a_survey_by_ray_is_that_of_one_process(tmp_path: Path) -> None:
    data = tmp_path / "data.txt"
    data.write_text("\n".join(f"{2 + i % 8} {2 + i % 7} {2 + i % 5}" for i in range(300)))
    for name in ("here", "ray"):
        command = [sys.executable, "-m", "transformer", "survey", "copy", "--data", str(data)]
        options = ["--out", str(tmp_path / name), "--device", "cpu", "--engine", name, "--json"]
        done = subprocess.run([*command, *options], cwd=ROOT, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["sentences"] == 300  # Ray says nothing there
    assert contents(tmp_path / "ray") == contents(tmp_path / "here") != {}


def test_a_sweep_by_ray_is_that_of_one_process(tmp_path: Path) -> None:
    data, found = tmp_path / "data.txt", []
    data.write_text("3 7 2 9\n4 4 5\n2 8 6 3 5\n9 1\n")
    for name in ("here", "ray"):
        command = [sys.executable, "-m", "transformer", "sweep", "copy", "--data", str(data)]
        options = ["--device", "cpu", "--engine", name, "--json"]
        done = subprocess.run([*command, *options], cwd=ROOT, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        found.append(json.loads(done.stdout))
    assert found[0] == found[1]
    assert len(found[0]["heads"]) == 24


@contextmanager
def cluster(folder: Path, **variables: str) -> Iterator[str]:
    """The address of a Ray with one machine, this one, at loopback."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    (folder / "home").mkdir(parents=True)
    temporary = Path(tempfile.mkdtemp(prefix="hc-", dir="/tmp"))
    command = [
        *(str(Path(sys.executable).parent / "ray"), "start", "--head", "--block"),
        *("--node-ip-address=127.0.0.1", f"--port={address.partition(':')[2]}", "--num-cpus=2"),
        *("--include-dashboard=false", "--disable-usage-stats", f"--temp-dir={temporary}"),
        f"--object-store-memory={100 * 2**20}",
    ]
    own = {"MARK": str(folder), "HOME": str(folder / "home"), "PYTHONPATH": str(ROOT)}
    loopback = {"RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0", "RAY_USAGE_STATS_ENABLED": "0"}
    environment = {**os.environ, **own, **loopback, **variables}
    with (folder / "log").open("w") as log:
        head = subprocess.Popen(command, env=environment, stdout=log, stderr=log)
    try:
        while "block forever" not in text(folder / "log"):
            assert head.poll() is None, text(folder / "log")
            time.sleep(0.2)
        yield address
    finally:
        head.terminate()
        head.wait()
        for each in of_job(folder):
            with suppress(ProcessLookupError):
                os.kill(int(each.name), signal.SIGKILL)
        shutil.rmtree(temporary, ignore_errors=True)


def refusal(address: str) -> str:
    with pytest.raises(EngineError) as info:
        list(engine.run(Lengths(Path("unused")), list(shards_of(LINES)), Resources(1, 1, address)))
    assert "ray" not in sys.modules  # it was not joined
    return str(info.value)


def test_a_cluster_does_shards_for_whoever_has_its_token(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = secrets.token_hex(32)
    variables = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": token}
    with cluster(tmp_path / "cluster", **variables) as address:
        monkeypatch.delenv("RAY_AUTH_TOKEN", raising=False)
        assert "Set RAY_AUTH_TOKEN" in refusal(address)
        monkeypatch.setenv("RAY_AUTH_TOKEN", "0" * 64)
        assert "another token" in refusal(address)
        with driver(tmp_path, "LINES", address, **variables) as process:
            reports = [pipe(process.stdout).readline().split() for _ in LINES]
            process.communicate("\n", timeout=60)
    assert sorted(int(number) for number, *_ in reports) == list(range(len(LINES)))
    (tmp_path / "here").mkdir()
    (tmp_path / "here" / ".killed").touch()
    finish(tmp_path / "here", LINES)
    assert contents(tmp_path / "out") == contents(tmp_path / "here") != {}


@pytest.mark.parametrize("work", ["survey", "sweep"])
def test_a_machine_of_another_precision_does_nothing(work: str, tmp_path: Path) -> None:
    secret = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(32)}
    data, out = tmp_path / "data.txt", tmp_path / "out"
    data.write_text("3 7 2 9\n4 4 5\n")
    with cluster(tmp_path / "cluster", HEADSCOPE_PRECISION="bfloat16", **secret) as address:
        command = [sys.executable, "-m", "transformer", work, "copy", "--data", str(data)]
        options = [
            "--device",
            "cpu",
            "--address",
            address,
            *(["--out", str(out)] * (work == "survey")),
        ]
        environment = {**os.environ, **secret}
        done = subprocess.run(
            [*command, *options], cwd=ROOT, env=environment, capture_output=True, text=True
        )
    assert done.returncode and "bfloat16" in done.stderr and "Traceback" not in done.stderr
    assert not list(out.glob("*.parquet"))


def test_a_cluster_that_asks_for_no_token_is_not_joined(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAY_AUTH_TOKEN", "0" * 64)
    with cluster(tmp_path / "cluster", RAY_AUTH_MODE="disabled") as address:
        assert "asks for no token" in refusal(address)
    assert "Nothing answers" in refusal(address)


@pytest.mark.parametrize("address", ["ray://head:10001", "head", ":6379", "head:"])
def test_an_address_is_a_host_and_a_port(address: str) -> None:
    assert "HOST:PORT" in refusal(address)
