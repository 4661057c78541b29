"""A line between browser and server on which everything takes its time, in order."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from urllib.parse import urlsplit


@dataclass
class SlowLine:
    """An address, and the seconds that each way takes from now on."""

    address: str = ""
    delay: float = 0.0


@contextmanager
def slow_line(server: str) -> Iterator[SlowLine]:
    """A line to a server's address, as long as the block; it begins without a delay."""
    line, begun, ended = SlowLine(), threading.Event(), threading.Event()
    thread = threading.Thread(target=lambda: asyncio.run(_serve(line, server, begun, ended)))
    thread.start()
    begun.wait(10)
    yield line
    ended.set()
    thread.join(10)


async def _serve(
    line: SlowLine, server: str, begun: threading.Event, ended: threading.Event
) -> None:
    host, port = urlsplit(server).hostname, urlsplit(server).port

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        back, forth = await asyncio.open_connection(host, port)
        with suppress(asyncio.CancelledError):  # the block has ended
            await asyncio.gather(_carry(line, reader, forth), _carry(line, back, writer))
        forth.close()
        writer.close()

    async with await asyncio.start_server(connected, "127.0.0.1", 0) as listening:
        line.address = f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}"
        begun.set()
        await asyncio.to_thread(ended.wait)


async def _carry(
    line: SlowLine, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> None:
    """One direction of one connection, until it ends."""
    loop, arrives = asyncio.get_running_loop(), 0.0
    with suppress(OSError):  # the other end is gone
        while content := await reader.read(2**16):
            arrives = max(arrives, loop.time() + line.delay)  # nothing overtakes what left before
            loop.call_at(arrives, writer.write, content)
    await asyncio.sleep(max(0.0, arrives - loop.time()))
    writer.close()
