"""Models on Ray Serve: replicas that answer tasks at one address, and are started anew if they end.

Whoever asks speaks HTTP and joins nothing. Ray itself stays at loopback, as for shards, and ends
with the command; in a cluster replicas are placed where there is room, on GPUs where they ask for
some. No text goes into a log: it stands in no address.
"""

import ipaddress
import os
import signal
import socket
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from logging import ERROR, getLogger
from threading import Event
from typing import Any

import torch

from transformer.checkpoint import FOLDER, checkpoints_folder
from transformer.engines.engine import EngineError
from transformer.engines.ray import in_a_sentence, joined
from transformer.extras import NotInstalled, how_to_install, require
from transformer.refusal import quoted
from viz.run.settings import CPU_INSTEAD, models_token, threads

NAME = "headscope"
DOOR = "add_port_to_grpc_server"
MOST = 256
"""Tasks of a replica at a time: those that its batch has no room for are told their place."""
STORE = 200 * 2**20
"""Bytes of shared memory, through which answers of more than 100 kB go."""
EVERYWHERE = ("0.0.0.0", "[::]")
"""Hosts that are listened at, and that nobody can ask."""
QUIET = {"RAY_SERVE_LOG_TO_STDERR": "0"}
INHERITED = (CPU_INSTEAD, "HEADSCOPE_PRECISION", "HEADSCOPE_LOG_TEXTS")
"""Settings that replicas on other machines have, too."""


@dataclass(frozen=True)
class Plan:
    """The replicas, what each has, and where they answer."""

    address: str
    replicas: int = 1
    gpus: float = 0.0
    """GPUs of a replica; several may share one: 0.5."""
    cluster: str = ""
    """HOST:PORT of a Ray that runs; empty: one is started, and ends with the command."""


class Replica:
    """A process with models of its own."""

    def __init__(self, settings: Mapping[str, str], token: str, n_threads: int) -> None:
        from viz.server.models.answering import response

        _close_door()
        os.environ.update(settings)
        torch.set_num_threads(n_threads)
        self._response, self._token = response, token

    async def __call__(self, request: Any) -> Any:
        """Answer a task."""
        return await self._response(request, self._token)


def _close_door() -> None:
    """Keep this replica from listening at all interfaces, before it does.

    Serve opens a port there for calls between deployments, which asks for no token and takes
    pickles: whoever reaches it runs what they like. Nothing here calls another deployment.
    """
    from ray.serve._private import replica

    if not hasattr(replica, DOOR):
        raise EngineError("This version of ray opens its replicas otherwise: take ray 2.60.")
    setattr(replica, DOOR, lambda server, address: 0)


@contextmanager
def serving(plan: Plan) -> Iterator[None]:
    """While it lasts the replicas answer. Raises Refusal."""
    require("serve", "leave HEADSCOPE_MODELS unset: models run in each viewer then")
    if find_spec("grpc") is None:
        raise NotInstalled(f"Ray is here without its Serve: {how_to_install('serve')}.")
    host, port = _place(plan.address)
    token = models_token()
    if not token and not _is_loopback(host):
        raise EngineError(
            f"Others reach {host}: set HEADSCOPE_MODELS_TOKEN to a secret that viewers have, too."
        )
    n_threads = threads()
    settings = {FOLDER: str(checkpoints_folder().absolute())}
    settings |= {name: os.environ[name] for name in INHERITED if name in os.environ}
    with joined(plan.cluster, plan.replicas * n_threads, QUIET, STORE):
        from ray import serve

        getLogger("ray.serve").setLevel(ERROR)  # it would tell of itself among what is told here
        kind = serve.deployment(
            name=NAME,
            num_replicas=plan.replicas,
            max_ongoing_requests=MOST,
            ray_actor_options={"num_cpus": n_threads, "num_gpus": plan.gpus},
            health_check_period_s=2,
            graceful_shutdown_timeout_s=2,
            logging_config={"enable_access_log": False},
        )(Replica)
        try:
            with in_a_sentence(plan.cluster or "this machine"):
                serve.start(proxy_location="HeadOnly", http_options={"host": host, "port": port})
                serve.run(kind.bind(settings, token, n_threads), name=NAME, route_prefix="/")
            yield
        finally:
            serve.shutdown()


def until_stopped(plan: Plan, tell: Callable[[str], object]) -> None:
    """Serve until Ctrl-C or SIGTERM. tell: hears a sentence once they answer. Raises Refusal."""
    over = Event()
    with serving(plan):
        for each in (signal.SIGINT, signal.SIGTERM):
            signal.signal(each, lambda *_: over.set())
        n = plan.replicas
        what = "1 replica answers" if n == 1 else f"{n:d} replicas answer"
        host, _, port = plan.address.rpartition(":")
        place = f"{socket.gethostname() if host in EVERYWHERE else host}:{port}"
        tell(f"{what} at {plan.address}: HEADSCOPE_MODELS={place} python -m viz")
        while not over.wait(1.0):  # a wait without an end hears no signal on some systems
            pass


def _place(address: str) -> tuple[str, int]:
    """Return host and port, which nobody else listens at. Raises EngineError."""
    host, _, port = address.rpartition(":")
    if not host or not (port.isascii() and port.isdigit() and 0 < int(port[:6]) < 2**16):
        raise EngineError(f"--address is HOST:PORT, not {quoted(address)}.")
    host = host.strip("[]")
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        with socket.socket(family) as tried:
            tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            tried.bind((host, int(port)))
    except OSError as error:
        raise EngineError(f"{address} cannot be listened at: {error.strerror}.") from error
    return host, int(port)


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
