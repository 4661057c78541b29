"""The address of scenes in small: pictures by which those of a story can be told apart.

A browser asks for those that are in sight, and keeps them: the address is of what a scene shows, so
that another one shows something else. `viz/server/scene_picture.py` draws them, one at a time.
"""

import asyncio
from collections.abc import Callable

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from viz.run.hosts import base_path
from viz.talks.thumbnail_links import PATH

NONE = 204
"""There is no picture of that."""
KEPT = {"cache-control": "private, max-age=86400"}
Draw = Callable[[str, str, str], bytes | None]
"""A story's code, a scene's key and the name of a theme -> SVG; None where there is none."""


def thumbnails_route(draw: Draw) -> Route:
    """Return the route where a browser asks for the picture of a scene."""
    alone = asyncio.Lock()  # those that wait hold no thread: files are read by the same few

    async def answer(request: Request) -> Response:
        query = (request.query_params.get(name, "") for name in ("draft", "of", "theme"))
        async with alone:
            content = await asyncio.to_thread(draw, *query)
        if content is None:
            return Response(status_code=NONE)
        return Response(content, media_type="image/svg+xml", headers=KEPT)

    base = base_path()
    return Route("/".join(["", *filter(None, (base, PATH))]), answer, methods=["GET"])
