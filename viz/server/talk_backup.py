"""The recording of a talk, made while it is open: the browser keeps it for when all else fails.

It is the story as one HTML file, as it is saved: `viz/server/recording_scenes.py` makes each scene
in the line with everything else that is asked. One story is recorded at a time, for all who give
it.
"""

import asyncio
from collections.abc import Callable
from concurrent.futures import Future
from logging import getLogger
from threading import Lock, Thread

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from viz.run.hosts import base_path
from viz.run.operating.logs import failure

_LOG = getLogger(__name__)
PATH = "recorded"
NONE = 204
"""There is no recording of that."""
HEADERS = {"cache-control": "no-store"}
"""The next talk is recorded anew: its weights may be others."""
Record = Callable[[str], bytes | None]
"""A story's name -> the file; None where there is no such story."""
_making: dict[str, "Future[bytes | None]"] = {}
_alone = Lock()


def recorded_route(record: Record) -> Route:
    """Return the route where a browser asks for a recording, and waits until it is made."""

    async def answer(request: Request) -> Response:
        name = request.query_params.get("story", "")
        made = _making.get(name) or _begin(name, record)
        content = await asyncio.shield(asyncio.wrap_future(made))
        if content is None:
            return Response(status_code=NONE, headers=HEADERS)
        return Response(content, media_type="text/html", headers=HEADERS)

    base = base_path()
    return Route("/".join(["", *filter(None, (base, PATH))]), answer, methods=["GET"])


def _begin(name: str, record: Record) -> "Future[bytes | None]":
    """Only the server's one loop begins anything, so nothing is begun twice."""
    made: Future[bytes | None] = Future()
    _making[name] = made
    Thread(target=_make, args=(name, record, made), name="recording", daemon=True).start()
    return made


def _make(name: str, record: Record, made: "Future[bytes | None]") -> None:
    content = None
    try:
        with _alone:
            content = record(name)
    except Exception as error:  # a talk goes on without it
        _LOG.error("A story could not be recorded: %s", failure(error))
    finally:
        _making.pop(name, None)
        made.set_result(content)
