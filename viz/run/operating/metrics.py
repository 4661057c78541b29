"""Counters of a server, in Prometheus' text format, at a port of its own.

Nothing that is counted names a person, an address or a text.
"""

import asyncio
import os
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from threading import Lock

from viz.run.settings import metrics_address

HELP = {
    "headscope_sessions": ("gauge", "Open pages."),
    "headscope_runs_total": ("counter", "Texts that a model was asked to read."),
    "headscope_refused_total": ("counter", "What was refused, by the reason."),
    "headscope_failures_total": ("counter", "Pages and choices that failed."),
    "process_cpu_seconds_total": ("counter", "Processor time of the server."),
    "process_resident_memory_bytes": ("gauge", "Memory of the server."),
    "process_start_time_seconds": ("gauge", "When the server started, in Unix time."),
}
LARGEST_REQUEST = 2**14
_STARTED = time.time()


@dataclass
class Counts:
    """Numbers by their name and labels; any thread may add to them."""

    values: dict[str, float] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    def add(self, name: str, by: float = 1, **labels: str) -> None:
        """labels: of our own choice, never what somebody typed."""
        text = ",".join(f'{key}="{value}"' for key, value in sorted(labels.items()))
        key = f"{name}{{{text}}}" if text else name
        with self._lock:
            self.values[key] = self.values.get(key, 0) + by

    def text(self) -> str:
        """All of them, and what the process needs."""
        with self._lock:
            values = {**dict.fromkeys(("headscope_sessions", "headscope_runs_total"), 0.0)}
            values |= self.values | _process()
        lines = []
        for name, (kind, explain) in HELP.items():
            keys = [key for key in sorted(values) if key.partition("{")[0] == name]
            if keys:
                lines += [f"# HELP {name} {explain}", f"# TYPE {name} {kind}"]
                lines += [f"{key} {values[key]:.15g}" for key in keys]
        return "\n".join(lines) + "\n"


COUNTS = Counts()


def _process() -> dict[str, float]:
    times = os.times()
    values = {
        "process_cpu_seconds_total": times.user + times.system,
        "process_start_time_seconds": _STARTED,
    }
    try:
        with open("/proc/self/statm", encoding="ascii") as file:  # noqa: PTH123
            pages = int(file.read().split()[1])
        values["process_resident_memory_bytes"] = pages * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):  # not Linux
        pass
    return values


@asynccontextmanager
async def metrics_served(more: Callable[[], Awaitable[str]] | None = None) -> AsyncIterator[None]:
    """Answer GET /metrics at the port of the settings, where one is set, for as long as this lasts.

    more: further lines in the same format.
    """
    where = metrics_address()
    if where is None:
        yield
        return

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            request = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 5)
            is_known = request.split(b" ", 2)[:2] == [b"GET", b"/metrics"]
            body = (COUNTS.text() + (await more() if more else "")).encode() if is_known else b""
            status = b"200 OK" if is_known else b"404 Not Found"
            writer.write(
                b"HTTP/1.1 " + status + b"\r\nContent-Type: text/plain; version=0.0.4\r\n"
                b"Content-Length: %d\r\nConnection: close\r\n\r\n" % len(body) + body
            )
            await writer.drain()
        except (asyncio.IncompleteReadError, asyncio.LimitOverrunError, OSError, TimeoutError):
            pass  # somebody who speaks no HTTP
        finally:
            writer.close()

    server = await asyncio.start_server(answer, *where, limit=LARGEST_REQUEST)
    async with server:
        yield
