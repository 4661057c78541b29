"""Actors of Ray, on this machine or on the machines of a cluster."""

import os
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import torch

from transformer.corpus.shards import Shard
from transformer.engines.engine import (
    ALONE,
    Death,
    Done,
    EngineError,
    Job,
    Report,
    Resources,
    Work,
    attempt,
    check_machine,
    do_all,
    marks_of,
)
from transformer.extras import require

# A Ray of this process: one that ends with it, or a cluster that it joins with a token.
#
# Ray runs whatever it is sent, listens on all interfaces, reports usage and writes into the home
# folder, unless it is told otherwise: here it is. A Ray that is started for a job listens at
# loopback alone, and a cluster is only used where it asks for a token, which stands in the
# environment and never in arguments. Nothing is installed on other machines: they have the same
# versions.

TOKEN, TOKEN_FILE = "RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH"
ALWAYS = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_AUTH_MODE": "token"}
LOOPBACK = {"RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0"}
"""Keeps Ray at 127.0.0.1, which it would replace by the outer address, on purpose. It is read when
ray is imported."""
MOST = 120
"""Seconds until a cluster that takes a connection has said who it is."""
STORE = 100 * 2**20
"""Bytes of shared memory. Shards and reports are small, and containers have 64 MB of /dev/shm; what
does not fit there Ray keeps in files."""
PACKAGES = Path(__file__).parents[len(__name__.split(".")) - 1]
"""The folder that our package, or in the repository its rooms, are imported from."""


@contextmanager
def joined(
    address: str, n_cpus: int, more: Mapping[str, str] | None = None, store: int = STORE
) -> Iterator[Any]:
    """The module ray, joined to the cluster of an address or to a Ray that ends afterwards.

    n_cpus: of such a Ray. more: variables of all its processes. store: bytes of shared memory.
    Raises EngineError.
    """
    host = _host(address) if address else ""
    near = host in ("", "127.0.0.1", "localhost")
    token = {} if address else {TOKEN: _own_token()}
    paths = os.pathsep.join([str(PACKAGES), *filter(None, [os.environ.get("PYTHONPATH")])])
    settings = {**ALWAYS, **(LOOPBACK if near else {}), **token, **(more or {})}
    settings["PYTHONPATH"] = paths
    with _environment(settings), _short_folder() as folder:
        if address:
            _check_door(address)
        import ray
        from ray._private.ray_constants import ENABLE_RAY_CLUSTER

        if ray.is_initialized() or (near and ENABLE_RAY_CLUSTER):
            raise EngineError(
                "ray is at work in this process already, with settings of its own: run this "
                "command in another one."
            )
        # Deaths of workers are counted here; Ray would print them among the results, on stdout.
        ray._private.worker.print_to_stdstream = lambda *_, **__: None
        own = {
            "num_cpus": n_cpus,
            "include_dashboard": False,
            "object_store_memory": store,
            "_node_ip_address": "127.0.0.1",
            "_temp_dir": str(folder),
        }
        where: dict[str, Any] = {"address": address} if address else own
        try:
            with in_a_sentence(address or "this machine"):
                ray.init(**where, log_to_driver=False, logging_level="ERROR")
            yield ray
        finally:
            ray.shutdown()


@contextmanager
def in_a_sentence(place: str) -> Iterator[None]:
    """Turn what Ray raises into a sentence that names the place."""
    try:
        yield
    except Exception as error:  # it raises plain ones, too: where a machine is too busy for it
        raise EngineError(f"Ray at {place} does not answer: {first_line(error)}") from error


def _host(address: str) -> str:
    """Return the host of an address. Raises EngineError."""
    host, _, port = address.rpartition(":")
    if not host or "/" in host or not port.isdigit():
        raise EngineError("A cluster is named HOST:PORT, which its machines have joined.")
    if not (os.environ.get(TOKEN) or os.environ.get(TOKEN_FILE)):
        raise EngineError(
            f"Set {TOKEN} to the token of the cluster at {address}, or {TOKEN_FILE} to the file "
            "that has it."
        )
    return host


KNOCK = """
import sys
from ray._raylet import GcsClient
from ray.exceptions import AuthenticationError
try:
    GcsClient(address=sys.argv[1])
except AuthenticationError:
    print("locked")
else:
    print("open")
"""
"""Asks a cluster whether it lets us in: in another process, as one has a token or none."""


def _check_door(address: str) -> None:
    """Raise EngineError unless the cluster there lets in whoever has our token, and nobody else.

    Ray itself tries for minutes.
    """
    host, _, port = address.rpartition(":")
    try:
        socket.create_connection((host, int(port)), timeout=10).close()
    except (OSError, OverflowError) as error:
        raise EngineError(f"Nothing answers at {address}: {error}.") from error
    stranger = {name: value for name, value in os.environ.items() if name != TOKEN}
    if _knock(address, stranger | {"RAY_AUTH_MODE": "disabled"}) == "open":
        raise EngineError(
            f"What is at {address} asks for no token, so whoever reaches it may run anything "
            "there: start Ray on each machine with RAY_AUTH_MODE=token."
        )
    if _knock(address, os.environ) == "locked":
        raise EngineError(f"The cluster at {address} has another token than {TOKEN} here.")


def _knock(address: str, variables: Mapping[str, str]) -> str:
    command = [sys.executable, "-c", KNOCK, address]
    try:
        done = subprocess.run(
            command, env=dict(variables), capture_output=True, text=True, timeout=MOST
        )
    except subprocess.TimeoutExpired:
        done = subprocess.CompletedProcess(command, 1, "", "")
    if done.stdout.strip() not in ("open", "locked"):
        raise EngineError(f"What is at {address} does not answer as Ray does.")
    return done.stdout.strip()


@cache
def _own_token() -> str:
    """Return a token for what this process starts: Ray reads it once a process."""
    return secrets.token_hex(32)


@contextmanager
def _environment(settings: Mapping[str, str]) -> Iterator[None]:
    """Variables for all processes that are started meanwhile."""
    before = {name: os.environ.get(name) for name in settings}
    os.environ.update(settings)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


@contextmanager
def _short_folder() -> Iterator[Path]:
    """A folder for logs and sockets, for this person alone; a socket's path has 107 characters."""
    short = Path("/tmp")
    folder = Path(tempfile.mkdtemp(prefix="hs-", dir=short if short.is_dir() else None))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def first_line(error: BaseException) -> str:
    """Say what Ray raised, which is often a page long."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[0] if lines else 'no reason is said'}"


# Actors of Ray, on this machine or on the machines of a cluster.
#
# Plain actors do what Ray Data would do for a list of shards, without its three actors and its
# imports. Nothing is installed on other machines: they have the same versions, or the job ends.


@dataclass(frozen=True)
class Ray:
    """Ray."""

    name: str = "ray"
    title: str = "actors of Ray, a local one or with --address a cluster's"

    def run(
        self, job: Job, shards: Sequence[Shard], resources: Resources = ALONE
    ) -> Iterator[Done]:
        """Start or join Ray, and give each actor a shard whenever it is ready."""
        require("cluster", "use --jobs")
        if shards:
            address, threads = resources.address, resources.threads
            with joined(address, resources.jobs * threads) as ray:
                if ray.cluster_resources().get("CPU", 0) < threads:
                    raise EngineError(f"The cluster at {address} has no processor for a job.")
                yield from do_all(_Actors(ray, job, resources), shards, resources.jobs)


@dataclass
class _Actors:
    """Actors by their number, and what each is asked at the moment."""

    ray: Any
    job: Job
    resources: Resources
    actors: list[Any] = field(default_factory=list)
    asked_of: dict[Any, int] = field(default_factory=dict)

    def start(self) -> int:
        device = str(getattr(self.job, "device", None) or "")
        kind = self.ray.remote(
            num_cpus=self.resources.threads,
            num_gpus=int(device.startswith("cuda")),
            max_restarts=0,  # another actor takes its place, of which the deaths are counted
        )(_Worker)
        marks = marks_of(self.job.checkpoint) if self.resources.address else None
        self.actors.append(kind.remote(self.job, marks, self.resources.threads))
        worker = len(self.actors) - 1
        self.asked_of[self.actors[worker].open.remote()] = worker
        return worker

    def give(self, worker: int, shard: Shard) -> None:
        self.asked_of[self.actors[worker].do.remote(shard)] = worker

    def report(self) -> tuple[int, Report]:
        (answer, *_), _ = self.ray.wait(list(self.asked_of), num_returns=1)
        worker = self.asked_of.pop(answer)
        try:
            return worker, self.ray.get(answer)
        except self.ray.exceptions.RayError as error:
            return worker, Death(first_line(error))

    def end(self) -> None:
        for actor in self.actors:
            self.ray.kill(actor)


class _Worker:
    """An actor, in a process of its own."""

    def __init__(self, job: Job, marks: Mapping[str, str] | None, threads: int) -> None:
        torch.set_num_threads(threads)
        self.job, self.marks = job, marks
        self.work: list[Work] = []

    def open(self) -> Report:
        return attempt(self._open)

    def do(self, shard: Shard) -> Report:
        return attempt(lambda: self.work[0](shard))

    def _open(self) -> None:
        if self.marks is not None:  # other machines
            check_machine(self.marks, marks_of(self.job.checkpoint))
        self.work.append(self.job.open())


ENGINE = Ray()
