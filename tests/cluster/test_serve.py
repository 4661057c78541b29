"""Models on a real Ray Serve: equal to the bit, loopback alone, a replica that is killed."""

import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.cluster.test_ray import LOOPBACK, ROOT, folders_of, listening, of_job, pipe, text
from tests.viz.run.models.test_elsewhere import TEXTS, assert_equal, assert_same_recording
from viz.run.models import elsewhere
from viz.run.models.place import ModelsError
from viz.run.request import Answer, Request, make_answer, make_request

pytestmark = pytest.mark.skipif(
    find_spec("ray") is None or find_spec("grpc") is None,
    reason="ray[serve] is not installed: sh tests/cluster/install.sh",
)
FIRST = 240.0
"""Seconds until all replicas answer, beside other work."""


def free() -> str:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{one.getsockname()[1]}"


@contextmanager
def models(folder: Path, *options: str, **variables: str) -> Iterator[subprocess.Popen[str]]:
    """The command, in a home of its own; what it starts has MARK, too."""
    (folder / "home").mkdir()
    paths = {"PYTHONPATH": str(ROOT), "HOME": str(folder / "home"), "MARK": str(folder)}
    with (
        (folder / "errors").open("w") as errors,
        subprocess.Popen(
            [sys.executable, "-m", "viz", "models", *options],
            env={**os.environ, **paths, **variables},
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
        ) as process,
    ):
        try:
            yield process
        finally:
            process.terminate()
            process.wait(60)


def replicas(folder: Path) -> set[int]:
    processes = of_job(folder)
    names = {each: text(each / "cmdline") for each in processes}
    return {int(each.name) for each, name in names.items() if "ServeReplica" in name}


def asked() -> list[Request]:
    requests = []
    for name, (words, method) in TEXTS.items():
        options = () if method == "none" else (("max_len", 12),)
        requests.append(make_request(name, words, method, options))
    edits = ("cut:cross.0.1.1.1", "hide:source.2")
    return [*requests, replace(requests[1], edits=edits)]


def test_replicas_answer_as_this_process_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One is killed at work, and another takes its place; then all of them end."""
    here = [make_answer(each) for each in asked()]
    many = [make_request("en-de", f"The dog saw {n} cats.", "beam") for n in range(40)]
    each_here = [make_answer(each) for each in many]
    address = free()
    with models(tmp_path, "--replicas", "2", "--address", address) as process:
        line = pipe(process.stdout).readline()
        assert address in line, text(tmp_path / "errors")
        processes = of_job(tmp_path)
        environment = text(Path(f"/proc/{min(replicas(tmp_path))}/environ"))
        (token,) = set(re.findall(r"RAY_AUTH_TOKEN=(\w{64})", environment))
        assert len(processes) > 4 and len(replicas(tmp_path)) == 2
        monkeypatch.setenv("HEADSCOPE_MODELS", address)
        for one in here:
            assert_equal(one, make_answer(one.request))
        addresses = listening(processes)
        assert len(addresses) > 4
        assert {each.partition(":")[0] for each in addresses} <= LOOPBACK, addresses
        first = replicas(tmp_path)

        def answer(request: Request) -> Answer:
            if request is many[10]:
                os.kill(min(first), signal.SIGKILL)
            return make_answer(request)

        with ThreadPoolExecutor(8) as pool:
            for one, other in zip(each_here, pool.map(answer, many), strict=True):
                # Texts that share steps differ in the last bits of their probabilities.
                assert one.decoding and other.decoding and one.decoding.text == other.decoding.text
                assert_same_recording(one, other)
        ends = time.monotonic() + FIRST
        while len(replicas(tmp_path) - {min(first)}) < 2:
            assert time.monotonic() < ends
            time.sleep(0.2)
        temporary = folders_of(processes)
        logs = [text(file) for each in temporary for file in each.rglob("*") if file.is_file()]
        commands = [text(each / "cmdline") for each in processes]
        assert len(logs) > 4 and not [it for it in (*commands, *logs) if token in it]
        assert not [it for it in logs if "The dog saw" in it]
        assert not [file for each in temporary for file in each.rglob("*usage_stats*")]
        assert list((tmp_path / "home").iterdir()) == []
    assert not any(each.exists() for each in temporary) and not replicas(tmp_path)
    monkeypatch.setattr(elsewhere, "PAUSES", (0.0,))
    with pytest.raises(ModelsError, match="do not answer"):
        make_answer(many[0])


def refusal(tmp_path: Path, *options: str, **variables: str) -> str:
    with models(tmp_path, *options, **variables) as process:
        assert process.wait(60) == 1
    return text(tmp_path / "errors")


def test_beyond_this_machine_they_ask_for_a_token(tmp_path: Path) -> None:
    error = refusal(tmp_path, "--address", "0.0.0.0:8600", HEADSCOPE_MODELS_TOKEN="")
    assert error.startswith("error: ") and "HEADSCOPE_MODELS_TOKEN" in error
    assert error.count("\n") == 1


def test_a_port_that_is_taken_is_a_sentence(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as one:
        address = f"127.0.0.1:{one.getsockname()[1]}"
        error = refusal(tmp_path, "--address", address)
    assert error.startswith("error: ") and address in error and error.count("\n") == 1
