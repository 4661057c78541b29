"""The scripts of components, at addresses of their own."""

import gzip
from functools import cache

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from viz.components.kit.scripts import AT, SERVED, script_address, script_files
from viz.run.hosts import base_path
from viz.server.first_fonts import keeping


def scripts_route() -> Route:
    """Return the route of the files; from now on components lead there."""
    SERVED["is_so"] = True
    return Route("/".join(["", *filter(None, (base_path(), AT)), "{name}"]), _send, methods=["GET"])


async def _send(request: Request) -> Response:
    name = request.path_params["name"].removesuffix(".js")
    if name not in script_files():
        return PlainTextResponse("There is no such script.", 404)
    digest = script_address(name).partition("?")[2]
    headers = {**keeping(request, digest), "vary": "Accept-Encoding"}
    content = script_files()[name]
    if "gzip" in request.headers.get("accept-encoding", ""):
        content, headers["content-encoding"] = _compressed(name), "gzip"
    return Response(content, media_type="text/javascript", headers=headers)


@cache
def _compressed(name: str) -> bytes:
    return gzip.compress(script_files()[name], 9)
