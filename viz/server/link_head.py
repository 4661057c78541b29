"""The words of a link before it is opened, and the address of its picture."""

import asyncio
import html
import re
import unicodedata
from collections.abc import Callable, Mapping
from pathlib import Path
from urllib.parse import parse_qsl, quote, urlencode

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Scope

from transformer.files.foreign_text import whole
from transformer.refusal import visible
from viz.labels import counted, kind_name
from viz.page_fields import CompareFields
from viz.run.settings import base_path
from viz.screen import FIRST_PAGE, Screen, link, parse, spell
from viz.state.checkpoints import at_start, shipped_names
from viz.state.page import Page
from viz.state.requests import first_example
from viz.stories.reading import shipped_stories
from viz.talks.story_drafts import DRAFTS, PREFIX

# The words of a link before it is opened: title, description, picture, in the head of its page.
#
# Messengers and search engines read them, and run no script. So they are made of the address
# alone: no model runs, and no checkpoint but a shipped one is looked at.

APP = "Headscope"
SUBJECT = "What each attention head of a Transformer looks at"
"""The subject of the whole app: where an address has no page, or the page says nothing."""
IN_TITLE, IN_DESCRIPTION = 40, 160
"""Characters of a sentence."""
PICTURE = "link.png"
"""The address of the picture, with the query of what is shown."""
PIXELS = (1200, 675)
"""Width and height of the picture."""
LONGEST = 2000
"""Characters of a query that a link names again: what is longer, few programs would ask for."""
_HOST = re.compile(r"(?:[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?|\[[0-9a-f:]+\])(?::\d{1,5})?", re.I)


def link_head(pages: Mapping[str, Page], path: str, query: str, origin: str | None) -> str:
    """HTML of the head. path: below that of the app; origin: as `origin_of` says it."""
    screen = screen_of(path, query)
    page = pages.get(screen.page)
    title, description = title_of(screen, page), description_of(screen, page)
    parts = [
        f"<title>{_escaped(title)}</title>",
        _tag("name", "description", description),
        *_tags({"type": "website", "site_name": APP, "title": title, "description": description}),
    ]
    picture = _picture_address(screen) if page is not None else PICTURE
    if origin is not None:  # both have to be whole addresses
        if page is not None and len(link(screen)) <= LONGEST:
            parts += _tags({"url": _whole(origin, link(screen).removeprefix("./").rstrip("?"))})
        width, height = map(str, PIXELS)
        size = {"image:width": width, "image:height": height, "image:type": "image/png"}
        alt = {"image:alt": description}
        parts += _tags({"image": _whole(origin, picture), **size, **alt})
        parts.append(_tag("name", "twitter:card", "summary_large_image"))
    parts.append(f'<link rel="image_src" href="./{_escaped(picture)}">')
    return "\n    ".join(parts)


def screen_of(path: str, query: str) -> Screen:
    """The Screen of an address as a browser sends it; what cannot be read is the default."""
    names = dict(parse_qsl(query)) | {"page": path.strip("/") or FIRST_PAGE}
    return parse({name: whole(text) for name, text in names.items()})


def origin_of(scope: Scope) -> str | None:
    """Scheme and host that the server was asked by; None where they are no plain ones.

    A proxy's word for the scheme is taken by uvicorn, of those in FORWARDED_ALLOW_IPS.
    """
    hosts = [value for name, value in scope["headers"] if name.lower() == b"host"]
    host = hosts[0].decode("latin-1") if len(hosts) == 1 else ""
    if scope["scheme"] not in ("http", "https") or not _HOST.fullmatch(host):
        return None
    return f"{scope['scheme']}://{host}"


def title_of(screen: Screen, page: Page | None) -> str:
    """The sentence or the story, the page and the app: as far as there are any."""
    of = _story(screen, page) or _text(screen, page)
    return " – ".join(filter(None, (cut(of, IN_TITLE), page.title if page else "", APP)))


def description_of(screen: Screen, page: Page | None) -> str:
    """One sentence: what the page is of, and what it shows here."""
    subject = (page.subject if page is not None else "") or SUBJECT
    return ", ".join((subject, *_here(screen, page))) + "."


def cut(text: str, most: int) -> str:
    """A text as one line of so many characters at most, cut between words where it has any.

    What hides or reorders others is a sign; what runs to the left stays among its own.

    >>> cut("The animal didn't cross the street.", 20), cut("a" * 9, 4)
    ("The animal didn't …", 'aaaa…')
    """
    line = visible(" ".join(text[: 8 * most].split()))
    if len(line) > most:
        words = line[: most + 1].rpartition(" ")[0]
        line = f"{words} …" if words else f"{line[:most]}…"
    is_leftward = any(unicodedata.bidirectional(each) in ("R", "AL") for each in line)
    return f"\N{FIRST STRONG ISOLATE}{line}\N{POP DIRECTIONAL ISOLATE}" if is_leftward else line


def _here(screen: Screen, page: Page | None) -> list[str]:
    """Say what is chosen: story, sentence, checkpoint, head and changes."""
    if page is None:
        return []
    parts = [f"told by “{cut(story, IN_TITLE)}”"] if (story := _story(screen, page)) else []
    checkpoint = _checkpoint(screen, page)
    if text := _text(screen, page):
        by = f" by {cut(checkpoint, IN_TITLE)}" if checkpoint else ""
        second = screen.of(CompareFields).checkpoint_b if page.name == "compare" else None
        if by and second in shipped_names():  # a path of somebody's is nobody else's affair
            by += f" and {cut(str(second), IN_TITLE)}"
        parts.append(f"here for “{cut(text, IN_DESCRIPTION)}” as read{by}")
    elif checkpoint:
        parts.append(f"here of {cut(checkpoint, IN_TITLE)}")
    if page.shows != "sentence":
        return parts
    if screen.layer is not None and screen.head is not None and not screen.mean:
        of = f" of {cut(kind_name(screen.kind), IN_TITLE)}" if screen.kind else ""
        parts.append(f"head {screen.head} of layer {screen.layer}{of}")
    if screen.edits:
        parts.append(f"with {counted(len(screen.edits), 'change', 'changes')} of the model")
    return parts


def _story(screen: Screen, page: Page | None) -> str:
    """The title of a story that is shipped, or put together here; else empty."""
    name = screen.story or ""
    code = name.removeprefix(PREFIX) if name.startswith(PREFIX) else None
    if page is not None and page.shows == "nothing":  # elsewhere it is being put together
        code = screen.draft or code
    story = shipped_stories().get(name) or DRAFTS.read(code)
    return story.title if story is not None else ""


def _text(screen: Screen, page: Page | None) -> str:
    """The sentence that a page shows; that of a checkpoint that is not shipped is not looked up."""
    is_list = page is not None and page.tells and screen.story is None
    if page is None or page.shows != "sentence" or is_list:
        return ""
    if screen.text is not None:
        return screen.text
    name = _checkpoint(screen, page)
    return first_example(name) if name else ""


def _checkpoint(screen: Screen, page: Page) -> str:
    """The name of the shipped checkpoint that is shown; empty: it is another, or none."""
    names = shipped_names()
    if page.shows == "nothing" or (page.tells and screen.story is None):
        return ""
    if screen.checkpoint is None:
        if page.chooses_checkpoint:
            return ""
        return names[0] if names and at_start() == ((), None) else ""
    return screen.checkpoint if screen.checkpoint in names else ""


def _picture_address(screen: Screen) -> str:
    query = urlencode(spell(screen), quote_via=quote, errors="replace")
    return f"{PICTURE}?{query}" if query and len(query) <= LONGEST else PICTURE


def _whole(origin: str, relative: str) -> str:
    return "/".join(filter(None, (origin, base_path()))) + f"/{relative}"


def _tags(values: Mapping[str, str]) -> list[str]:
    return [_tag("property", f"og:{name}", value) for name, value in values.items()]


def _tag(kind: str, name: str, value: str) -> str:
    return f'<meta {kind}="{name}" content="{_escaped(value)}">'


def _escaped(text: str) -> str:
    return html.escape(whole(text))


# The address of the picture of a link, which messengers ask for.
#
# `viz/server/link_drawing.py` draws it. Where it does not, as for strangers where a model would
# have to run, the answer is the picture that lies beside this file, which
# `.ci/draw_link_picture.py` made.

FIXED = Path(__file__).with_name("link_picture.png")
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
