"""Logs, metrics and times of a server, for whoever operates it."""

import asyncio
import json
import logging
import os
import time
import traceback
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from threading import Lock

from viz.run.settings import logs_json, logs_texts, logs_times, metrics_address

# The server's logs: as usual, or each message as a line of JSON; without what people typed.

LOGGERS = ("", "streamlit", "uvicorn", "uvicorn.error")


class OneLine(logging.Formatter):
    """A message as a line of JSON: time (UTC), level, logger, message, and where it failed."""

    def format(self, record: logging.LogRecord) -> str:
        """The line."""
        when = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created))
        fields = {
            "time": f"{when}.{int(record.msecs):03}Z",
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        if record.exc_info and record.exc_info[1] is not None:
            fields["failure"] = failure(record.exc_info[1])
        return json.dumps(fields, ensure_ascii=True)


def set_up_logs() -> None:
    """Let all loggers write as the settings say."""
    if not logs_json():
        return
    if not logging.getLogger().handlers:
        logging.getLogger().addHandler(logging.StreamHandler())
    for name in LOGGERS:
        for handler in logging.getLogger(name).handlers:
            handler.setFormatter(OneLine())


def failure(error: BaseException) -> str:
    """Say where it was raised.

    Its message may quote what somebody typed: that is left out unless the operator asks for it.
    """
    if logs_texts():
        return "".join(traceback.format_exception(error))
    where = "".join(traceback.format_tb(error.__traceback__))
    cause = error.__cause__ or error.__context__
    after = f" after {type(cause).__name__}" if cause is not None else ""
    return f"{type(error).__name__}{after}\n{where}"


# Counters of a server, in Prometheus' text format, at a port of its own.
#
# Nothing that is counted names a person, an address or a text.

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


# The time that a page takes, part by part: HEADSCOPE_TIMES=yes writes it into the log.

LOGGER = logging.getLogger("headscope.times")


@dataclass
class _Run:
    """A run of the script: seconds by part, in the order in which the parts began."""

    seconds: dict[str, float] = field(default_factory=dict)
    inside: list[str] = field(default_factory=list)
    """Names of the parts that are going on."""


_RUN: ContextVar[_Run | None] = ContextVar("times of this run", default=None)


@contextmanager
def timed_run(title: str) -> Iterator[None]:
    """Time a whole run of a page, and log one line of it where the setting asks for that.

    The line has milliseconds of wall time: of the run, then of each part, those inside another
    one written below it as `page/grid`. No text that people typed is in it.
    """
    if not logs_times():
        yield
        return
    run, start = _Run(), time.perf_counter()
    token = _RUN.set(run)
    try:
        yield
    finally:
        _RUN.reset(token)
        total = time.perf_counter() - start
        parts = ", ".join(f"{name} {1000 * it:.1f}" for name, it in run.seconds.items())
        LOGGER.warning("%s %.1f ms: %s", title, 1000 * total, parts or "nothing was drawn")


@contextmanager
def timed(part: str) -> Iterator[None]:
    """Add the time of a block to its part of the run that is timed; nothing where none is."""
    run = _RUN.get()
    if run is None:
        yield
        return
    run.inside.append(part)
    name, start = "/".join(run.inside), time.perf_counter()
    run.seconds.setdefault(name, 0.0)
    try:
        yield
    finally:
        run.inside.pop()
        run.seconds[name] += time.perf_counter() - start
