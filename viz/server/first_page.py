"""The address of the first page by its name, as a shell and people write it.

Streamlit serves the first page at the app's root alone, and says of `/explore` that there is no
such page.
"""

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from viz.run.hosts import base_path
from viz.screen import FIRST_PAGE


def first_page_route() -> Route:
    """Return the route that leads from the first page's name to the root, its query with it."""
    base = base_path()
    return Route("/".join(["", *filter(None, (base, FIRST_PAGE))]), _lead, methods=["GET"])


async def _lead(request: Request) -> Response:
    query = request.url.query
    return RedirectResponse(f"./?{query}" if query else "./", 307)
