"""Models elsewhere on this machine: replicas of Ray Serve, by the environment of tests/cluster."""

import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.browser.server import free_port

ROOT = Path(__file__).parents[2]
PYTHON = ROOT / ".venv-cluster/bin/python"
"""It has Ray, once `sh tests/cluster/install.sh` has run."""


@dataclass(frozen=True)
class Replicas:
    """What `python -m viz models` has started."""

    address: str
    pid: int
    killed: list[int] = field(default_factory=list)

    def pids(self) -> list[int]:
        """The processes that have models."""
        every = processes_of(self.pid)
        return [each for each in every if "ServeReplica" in text_of(each, "cmdline")]

    def kill_one(self) -> None:
        """Kill the oldest, whatever it has at work."""
        oldest = min(self.pids())
        os.kill(oldest, signal.SIGKILL)
        self.killed.append(oldest)


@contextmanager
def replicas(n: int) -> Iterator[Replicas]:
    """n of them, which end with the block."""
    address = f"127.0.0.1:{free_port()}"
    command = [str(PYTHON), "-m", "viz", "models", "--replicas", str(n), "--address", address]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    process = subprocess.Popen(command, cwd=ROOT, **pipes)  # type: ignore[call-overload]
    try:
        if address not in process.stdout.readline():
            raise RuntimeError(process.stderr.read())
        yield Replicas(address, process.pid)
    finally:
        process.terminate()
        process.wait(60)


def processes_of(pid: int) -> Iterator[int]:
    """Processes that this one has begun, and theirs; none where the system has no /proc."""
    for task in Path(f"/proc/{pid}/task").glob("*"):
        for child in map(int, text_of(pid, f"task/{task.name}/children").split()):
            yield child
            yield from processes_of(child)


def processor_of(pid: int) -> float:
    """Seconds that what a process has begun computed, whatever else the machine does."""
    stats = (text_of(each, "stat") for each in processes_of(pid))
    fields = [stat.rpartition(")")[2].split() for stat in stats]
    return sum(int(each[11]) + int(each[12]) for each in fields if each) / os.sysconf("SC_CLK_TCK")


def text_of(pid: int, name: str) -> str:
    """A file that the kernel has of a process; empty where it has ended."""
    try:
        return Path(f"/proc/{pid}/{name}").read_text(errors="replace")
    except OSError:
        return ""
