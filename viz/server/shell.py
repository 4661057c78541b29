"""The first answer to a browser: Streamlit's files compressed, and a picture before the app has
drawn.
"""

import asyncio
import gzip
import html
import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from hashlib import blake2b, sha256
from pathlib import Path
from string import Template
from typing import Any
from urllib.parse import parse_qsl, unquote

from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit.file_util import get_static_dir

from viz.run.settings import base_path
from viz.screen import parse
from viz.server.link_head import origin_of
from viz.state.live_page import live_address
from viz.theme import DARK, LIGHT

# Typefaces of the first load: small copies of Streamlit's, which come before its own.
#
# A browser asks of several files of one family the last one first, and of it alone where it has
# the character: so Streamlit's whole files are asked for where a sentence has other letters. The
# copies have addresses of their own: another app of Streamlit's at the same port keeps what it
# has. `.ci/subset_fonts.py` makes them.

FOLDER = Path(__file__).parent / "typefaces"
FIRST_FONTS_AT = "typefaces"
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
    return Route(
        "/".join(["", *filter(None, (base_path(), FIRST_FONTS_AT)), "{name}"]),
        _send_first_fonts,
        methods=["GET"],
    )


def keeping(request: Request, digest: str) -> dict[str, str]:
    """Say how long a browser keeps an answer. digest: what its address should end in."""
    return FOREVER if request.url.query == digest else ASKED_AGAIN


async def _send_first_fonts(request: Request) -> Response:
    file = FOLDER / f"{request.path_params['name'].removesuffix('.woff2')}.woff2"
    if file not in FOLDER.glob("*.woff2"):
        return PlainTextResponse("There is no such typeface.", 404)
    content = file.read_bytes()
    digest = sha256(content).hexdigest()[:8]  # as .ci/subset_fonts.py writes it
    return Response(content, media_type="font/woff2", headers=keeping(request, digest))


@cache
def faces() -> str:
    """HTML that says where they are, relative to any page of the app."""
    rules = (FOLDER / "faces.css").read_text("utf-8").replace('url("', f'url("./{FIRST_FONTS_AT}/')
    behind = _BEHIND.substitute(others=(FOLDER / "others.txt").read_text("utf-8"))
    return f"<script>{behind}</script><style>{rules}</style>"


# Streamlit's small scripts of the first screen as one file: there are some eighty of them.
#
# A browser fetches each by itself, and those of an element only once it hears of one. Here a page
# fetches the small ones in one file, and an import map leads from their addresses to what stands
# in it: they stay modules, as Streamlit built them. Large ones stay files, which a browser
# compiles as they come and keeps compiled. What is not in the file is fetched as ever, and so is
# everything where a page or a browser does not fit.

FIRST_CHUNKS_AT = "chunks.json"
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
CHARTS = "PlotlyChart"
"""The script that takes longest to begin: 0.4 s, and 2 s where the browser never had it."""
SMALL = 12_000
"""Bytes, not compressed: those above are a fifth of the scripts, and nine tenths of the bytes."""
_IMPORT = re.compile(r'(?:from|import)"\./([\w.-]+\.js)"')
_ENTRY = re.compile(rb'<script type="module"[^>]*src="\./static/js/([\w.-]+\.js)"[^>]*></script>')
_PRELOADED = re.compile(rb'\s*<link rel="modulepreload"[^>]*href="\./static/js/[^>]*>')


def chunks_route() -> Route:
    """Return the route of the file."""
    return Route(
        "/".join(["", *filter(None, (base_path(), FIRST_CHUNKS_AT))]),
        _send_first_chunks,
        methods=["GET"],
    )


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
        "address": f"./{FIRST_CHUNKS_AT}?{_digest()}",
        "entry": entry[1].decode(),
        "early": [f"./static/js/{name}" for name in large if name.encode() in page],
        "later": [*of_elements, *later],
        "idle": next((it.name for it in _folder().glob(f"{CHARTS}.*.js")), ""),
    }
    text = (Path(__file__).parent / "first_chunks.js").read_text("utf-8")
    starting = text.replace("export async", "async", 1)  # of no module, so that it begins at once
    script = f"<script>{{{starting}start({json.dumps(parts)});}}</script>".encode()
    return _PRELOADED.sub(b"", page[: entry.start()] + script + page[entry.end() :])


def _folder() -> Path:
    return Path(get_static_dir()) / "static" / "js"


@cache
def scripts() -> dict[str, str]:
    """Name -> text: what starts the page, then its elements, each followed by what it imports."""
    folder = _folder()
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
def _compressed_first_chunks() -> bytes:
    return gzip.compress(_file(), 9)


@cache
def _digest() -> str:
    return blake2b(_file(), digest_size=4).hexdigest()


async def _send_first_chunks(request: Request) -> Response:
    content, headers = _file(), {**keeping(request, _digest()), "vary": "Accept-Encoding"}
    if "gzip" in request.headers.get("accept-encoding", ""):
        content, headers["content-encoding"] = _compressed_first_chunks(), "gzip"
    return Response(content, media_type="application/json", headers=headers)


# The first answer to a browser: Streamlit's files compressed, and a picture before the app runs.
#
# Streamlit sends its own files as they are, 3 MB, and a page that stays blank until they have
# come. On a slow line that is the better part of a minute; a proxy that compresses is not always
# there.

STATIC, MEDIA = "/static/", "/media/"
COMPRESSED = ("text/", "application/javascript", "application/json", "image/svg+xml")
ROOT = b'<div id="root"></div>'
TITLE = b"<title>Streamlit</title>"
NO_WORDS = "<title>Headscope</title>"
PRELOADED = re.compile(rb"<link[^>]*as=\"font\"[^>]*>")
"""Streamlit's typeface, whole."""
AS_IT_IS = (b"accept-encoding", b"if-modified-since", b"if-none-match", b"if-range", b"range")
"""Not asked of Streamlit: its answer is to come whole and not compressed."""
ONE_BASE = (
    "<script>window.__streamlit = {...window.__streamlit, "
    'BACKEND_BASE_URL: new URL("./", document.baseURI).href}</script>'
)
"""Streamlit's page looks for the server below its own address first, and is told that there is no
such thing, twice: this says where the server is, relative to any page."""
Header = tuple[bytes, bytes]


@dataclass
class Shell:
    """An ASGI middleware around Streamlit's. Static files never change: each is compressed once."""

    app: ASGIApp
    first_picture: Callable[[], str]
    """HTML of the first screen that is seen until the app draws; empty where there is none."""
    waiting: Callable[[str], str]
    """The same without a picture, for any query."""
    head: Callable[[str, str, str | None], str] = lambda path, query, origin: NO_WORDS
    """HTML with a title, of a path below the app's, a query, and the server's own origin."""
    leads: Callable[[str], str] = lambda name: name
    """The address, below the app's, that the name of a page leads to: its own, where it has one."""
    ahead: str = ""
    """HTML of the typefaces that come before Streamlit's."""
    later: tuple[str, ...] = ()
    """Addresses of scripts that are asked for before anything imports them."""
    files: dict[str, Message] = field(default_factory=dict)
    """The whole answer by the path of a static file."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http" or scope["method"] != "GET":
            await self.app(scope, receive, send)
        elif STATIC in scope["path"] and _takes_gzip(scope):
            await self._send_static(scope, receive, send)
        elif _asks_for_page(scope):
            await self._send_page(scope, receive, send)
        else:
            await self.app(scope, receive, send)

    async def _send_static(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope["path"]
        if path not in self.files:
            answer = await _whole(self.app, scope, receive)
            if not _never_changes(answer):
                await _send(answer, send)
                return
            self.files[path] = await asyncio.to_thread(_compressed, answer)
        await _send(self.files[path], send)

    async def _send_page(self, scope: Scope, receive: Receive, send: Send) -> None:
        answer = await _whole(self.app, scope, receive)
        if ROOT in answer["body"]:
            query = scope["query_string"].decode("latin-1")
            path = scope["path"].removeprefix(f"/{base_path()}").removeprefix("/")
            if path and (led := await asyncio.to_thread(self.leads, path.strip("/"))) != path:
                await _lead(path, led, query)(scope, receive, send)
                return
            others, named = _named_in(query)
            if not path and named is not None:
                led = await asyncio.to_thread(self.leads, named)
                if not led.startswith("?"):  # else there is no such page, and the first one says so
                    await _lead(path, led, others)(scope, receive, send)
                    return
            has_picture = not path and not query
            first = (has_picture and self.first_picture()) or self.waiting(query)
            head = await asyncio.to_thread(self.head, path, query, origin_of(scope))
            body = answer["body"].replace(TITLE, f"{head}\n    {ONE_BASE}".encode())
            if self.ahead:
                body = PRELOADED.sub(b"", body)
            body = with_chunks(body, self.later)
            before = f"{self.ahead}{first}".encode()
            answer = _with_body(answer, body.replace(ROOT, before + ROOT))
            if _takes_gzip(scope):
                answer = _compressed(answer)
        await _send(answer, send)


def _named_in(query: str) -> tuple[str, str | None]:
    """A query without its page, and that page: so a page without a server names one (viz/live)."""
    parts = query.split("&")
    pages = [part for part in parts if part.startswith("page=")]
    others = "&".join(part for part in parts if part not in pages)
    return others, unquote(pages[0].removeprefix("page=")) if pages else None


def _lead(path: str, led: str, query: str) -> Response:
    """The way from a path to another address, relative: a proxy may have put a path before both."""
    to, _, named = led.partition("?")
    query = "&".join(filter(None, (query, named)))
    up = "../" * path.count("/") or "./"
    return RedirectResponse(f"{up}{to}?{query}" if query else f"{up}{to}", 307)


async def _whole(app: ASGIApp, scope: Scope, receive: Receive) -> Message:
    """Collect the app's whole answer: {"status", "headers", "body", "is_whole"}.

    It is not whole where the browser went away before the app had sent all of it.
    """
    answer: dict[str, Any] = {"status": 500, "headers": [], "body": b"", "is_whole": False}

    async def keep(message: Message) -> None:
        if message["type"] == "http.response.start":
            answer.update(status=message["status"], headers=list(message["headers"]))
        elif message["type"] == "http.response.body":
            answer["body"] += message.get("body", b"")
            answer["is_whole"] = not message.get("more_body", False)

    extensions = {
        name: it for name, it in scope.get("extensions", {}).items() if "pathsend" not in name
    }
    plain = [header for header in scope["headers"] if header[0] not in AS_IT_IS]
    await app({**scope, "extensions": extensions, "headers": plain}, receive, keep)
    return answer


async def _send(answer: Message, send: Send) -> None:
    start = {"status": answer["status"], "headers": answer["headers"]}
    await send({"type": "http.response.start", **start})
    await send({"type": "http.response.body", "body": answer["body"]})


def _with_body(answer: Message, body: bytes, *more: Header) -> Message:
    """The same answer with another body, which the old one's length and name do not fit."""
    old = (b"content-length", b"etag", b"last-modified")
    headers = [header for header in answer["headers"] if header[0].lower() not in old]
    length = (b"content-length", str(len(body)).encode())
    return {**answer, "headers": [*headers, length, *more], "body": body}


def _compressed(answer: Message) -> Message:
    more = (b"content-encoding", b"gzip"), (b"vary", b"Accept-Encoding")
    return _with_body(answer, gzip.compress(answer["body"], 6), *more)


def _never_changes(answer: Message) -> bool:
    """Tell whether it is a file that never changes, not the page that Streamlit sends instead."""
    kind = _header(answer["headers"], b"content-type").decode()
    is_text = kind.startswith(COMPRESSED) or "javascript" in kind
    is_immutable = b"immutable" in _header(answer["headers"], b"cache-control")
    is_whole = answer["is_whole"] and _header(answer["headers"], b"content-length") in (
        b"",
        str(len(answer["body"])).encode(),
    )
    return is_text and is_immutable and answer["status"] == 200 and is_whole


def _asks_for_page(scope: Scope) -> bool:
    """Tell whether a browser or a messenger opens a link: the latter takes anything, by its words.

    The names of pages have no dot and nothing below them, as files have.
    """
    accepted, path = _header(scope["headers"], b"accept"), scope["path"]
    if path.startswith(f"{live_address()}/"):
        return False
    if b"text/html" in accepted:
        return MEDIA not in path
    name = path.removeprefix(f"/{base_path()}").strip("/")
    return (b"*/*" in accepted or not accepted) and not set(name) & set("./")


def _takes_gzip(scope: Scope) -> bool:
    return b"gzip" in _header(scope["headers"], b"accept-encoding")


def _header(headers: list[Header], name: bytes) -> bytes:
    return next((value for key, value in headers if key.lower() == name), b"")


# The page until the app has drawn: the sentence that an address asks for, and a picture.

PAGE = Template((Path(__file__).parent / "waiting.html").read_text("utf-8"))
LONGEST = 400
"""Characters of a sentence."""


def waiting(query: str) -> str:
    """HTML without a picture, for an address that asks for more than the first screen."""
    return filled(parse(dict(parse_qsl(query))).text or "")


def filled(source: str, target: str = "", words: str = "", svg: str = "") -> str:
    """The page, with the colours of both themes. svg: HTML; all else is text."""
    colours = {
        f"{theme.name}_{name}": getattr(theme, name)
        for theme in (LIGHT, DARK)
        for name in ("background", "text", "dim", "ink")
    }
    texts = {"source": source, "target": target, "said": words}
    escaped = {name: html.escape(text[:LONGEST]) for name, text in texts.items()}
    return PAGE.substitute(colours, svg=svg, **escaped)
