"""Typefaces of the first load: small copies of Streamlit's, which come before its own.

A browser asks of several files of one family the last one first, and of it alone where it has the
character: so Streamlit's whole files are asked for where a sentence has other letters. The copies
have addresses of their own: another app of Streamlit's at the same port keeps what it has.
`.ci/subset_fonts.py` makes them.
"""

from functools import cache
from hashlib import sha256
from pathlib import Path
from string import Template

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from viz.run.hosts import base_path

FOLDER = Path(__file__).parent / "typefaces"
AT = "typefaces"
FOREVER = {"cache-control": "public, max-age=31536000, immutable"}
"""The address of a file changes with its content."""
ASKED_AGAIN = {"cache-control": "no-cache"}
"""The answer to the address of another content, as of another version beside this one, is ours."""

_BEHIND = Template("""
for (const sheet of document.styleSheets)
  for (let i = (sheet.href ? sheet.cssRules.length : 0) - 1; i >= 0; i--) {
    const text = sheet.cssRules[i].cssText;
    if (!/^@font-face.*(Material Symbols|Source Sans)/s.test(text)) continue;
    sheet.deleteRule(i);
    if (text.includes("Source Sans"))
      sheet.insertRule(text.replace(/}$$/, "; unicode-range: $others }"), i);
  }
""")
"""Streamlit loads all files of its icons' family as it starts, needed or not: its own is taken out.
A browser would load the whole typeface also for a sign that it lacks, as "▁": it is told what is
there. A script in the page waits for the style sheets above it, and Streamlit's for the page."""


def fonts_route() -> Route:
    """Return the route of the files."""
    return Route("/".join(["", *filter(None, (base_path(), AT)), "{name}"]), _send, methods=["GET"])


def keeping(request: Request, digest: str) -> dict[str, str]:
    """Say how long a browser keeps an answer. digest: what its address should end in."""
    return FOREVER if request.url.query == digest else ASKED_AGAIN


async def _send(request: Request) -> Response:
    file = FOLDER / f"{request.path_params['name'].removesuffix('.woff2')}.woff2"
    if file not in FOLDER.glob("*.woff2"):
        return PlainTextResponse("There is no such typeface.", 404)
    content = file.read_bytes()
    digest = sha256(content).hexdigest()[:8]  # as .ci/subset_fonts.py writes it
    return Response(content, media_type="font/woff2", headers=keeping(request, digest))


@cache
def faces() -> str:
    """HTML that says where they are, relative to any page of the app."""
    rules = (FOLDER / "faces.css").read_text("utf-8").replace('url("', f'url("./{AT}/')
    behind = _BEHIND.substitute(others=(FOLDER / "others.txt").read_text("utf-8"))
    return f"<script>{behind}</script><style>{rules}</style>"
