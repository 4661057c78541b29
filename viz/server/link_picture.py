"""The address of the picture of a link, which messengers ask for.

`viz/server/link_drawing.py` draws it. Where it does not, as for strangers where a model would have
to run, the answer is the picture that lies beside this file, which `.ci/draw_link_picture.py` made.
"""

import asyncio
from collections.abc import Callable
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from viz.run.hosts import base_path
from viz.screen import Screen
from viz.server.link_head import LONGEST, PICTURE, screen_of

FIXED = Path(__file__).with_suffix(".png")
MOST_WAIT = 8
"""The number of those that wait for a picture; the next one gets the fixed one at once."""
KEPT, SOON = ({"cache-control": f"public, max-age={seconds}"} for seconds in (86400, 60))
"""A messenger keeps a picture so long; in place of a fixed one another may be drawn by then."""
Draw = Callable[[Screen, str], bytes | None]
"""A Screen and the network address of who asks -> PNG; None where it is not drawn."""


def link_picture_route(draw: Draw) -> Route:
    """Return the route where a messenger asks for the picture of an address."""
    alone = asyncio.Lock()
    n_waiting = 0

    async def answer(request: Request) -> Response:
        nonlocal n_waiting
        query, content = request.url.query, None
        if n_waiting < MOST_WAIT and len(query) <= LONGEST:
            n_waiting += 1
            try:
                async with alone:  # those that wait hold no thread
                    who = request.client.host if request.client is not None else ""
                    path = request.query_params.get("page", "")
                    content = await asyncio.to_thread(draw, screen_of(path, query), who)
            finally:
                n_waiting -= 1
        headers = SOON if content is None else KEPT
        return Response(content or FIXED.read_bytes(), media_type="image/png", headers=headers)

    base = base_path()
    return Route("/".join(["", *filter(None, (base, PICTURE))]), answer, methods=["GET"])
