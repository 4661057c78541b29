"""Streamlit's small scripts of the first screen as one file: there are some eighty of them.

A browser fetches each by itself, and those of an element only once it hears of one. Here a page
fetches the small ones in one file, and an import map leads from their addresses to what stands in
it: they stay modules, as Streamlit built them. Large ones stay files, which a browser compiles as
they come and keeps compiled. What is not in the file is fetched as ever, and so is everything where
a page or a browser does not fit.
"""

import gzip
import json
import re
from functools import cache
from hashlib import blake2b
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from streamlit.file_util import get_static_dir

from viz.run.hosts import base_path
from viz.server.first_fonts import keeping

AT = "chunks.json"
ELEMENTS = (
    "BidiComponent",
    "Button",
    "ButtonGroup",
    "Html",
    "MenuButton",
    "Selectbox",
    "TextInput",
)
"""The kinds of elements of the first screen, as Streamlit names their scripts."""
SMALL = 12_000
"""Bytes, not compressed: those above are a fifth of the scripts, and nine tenths of the bytes."""
_IMPORT = re.compile(r'(?:from|import)"\./([\w.-]+\.js)"')
_ENTRY = re.compile(rb'<script type="module"[^>]*src="\./static/js/([\w.-]+\.js)"[^>]*></script>')
_PRELOADED = re.compile(rb'\s*<link rel="modulepreload"[^>]*href="\./static/js/[^>]*>')


def chunks_route() -> Route:
    """Return the route of the file."""
    return Route("/".join(["", *filter(None, (base_path(), AT))]), _send, methods=["GET"])


def with_chunks(page: bytes, later: tuple[str, ...] = ()) -> bytes:
    """Return Streamlit's page such that it asks for the file. A page of another form stays so.

    later: addresses of scripts, relative to the page, that what starts it does not wait for.
    """
    entry = _ENTRY.search(page)
    if not entry or entry[1].decode() not in scripts():
        return page
    large = [name for name, text in scripts().items() if len(text) > SMALL]
    of_elements = [f"./static/js/{name}" for name in large if name.encode() not in page]
    parts = {
        "address": f"./{AT}?{_digest()}",
        "entry": entry[1].decode(),
        "early": [f"./static/js/{name}" for name in large if name.encode() in page],
        "later": [*of_elements, *later],
    }
    text = (Path(__file__).parent / "first_chunks.js").read_text("utf-8")
    starting = text.replace("export async", "async", 1)  # of no module, so that it begins at once
    script = f"<script>{{{starting}start({json.dumps(parts)});}}</script>".encode()
    return _PRELOADED.sub(b"", page[: entry.start()] + script + page[entry.end() :])


@cache
def scripts() -> dict[str, str]:
    """Name -> text: what starts the page, then its elements, each followed by what it imports."""
    folder = Path(get_static_dir()) / "static" / "js"
    page = _ENTRY.search((Path(get_static_dir()) / "index.html").read_bytes())
    names = [page[1].decode()] if page else []
    names += [path.name for name in ELEMENTS for path in folder.glob(f"{name}.*.js")]
    texts: dict[str, str] = {}
    while names:
        name = names.pop(0)
        if name not in texts and (folder / name).is_file():
            texts[name] = (folder / name).read_text("utf-8")
            names = [*_IMPORT.findall(texts[name]), *names]
    return texts


@cache
def _file() -> bytes:
    small = {name: text for name, text in scripts().items() if len(text) <= SMALL}
    return json.dumps(small, ensure_ascii=False).encode()


@cache
def _compressed() -> bytes:
    return gzip.compress(_file(), 9)


@cache
def _digest() -> str:
    return blake2b(_file(), digest_size=4).hexdigest()


async def _send(request: Request) -> Response:
    content, headers = _file(), {**keeping(request, _digest()), "vary": "Accept-Encoding"}
    if "gzip" in request.headers.get("accept-encoding", ""):
        content, headers["content-encoding"] = _compressed(), "gzip"
    return Response(content, media_type="application/json", headers=headers)
