"""Models that answer at a port of this process, as a replica elsewhere does."""

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import uvicorn


@contextmanager
def served(app: Any, port: int = 0) -> Iterator[str]:
    """The address of an ASGI app, HOST:PORT."""
    with socket.socket() as listening:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(("127.0.0.1", port))
        config = uvicorn.Config(app, log_level="critical", lifespan="off")
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, args=([listening],), daemon=True)
        thread.start()
        while not server.started:
            assert thread.is_alive()
            time.sleep(0.01)
        try:
            yield f"127.0.0.1:{listening.getsockname()[1]}"
        finally:
            server.should_exit = server.force_exit = True
            thread.join()
