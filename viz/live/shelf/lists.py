"""The lists of a folder's page: the app's cards, whose links lead to what the folder has."""

import html
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

from viz.components.kit.browser import digest
from viz.figures.scenes import Picture
from viz.screen import FIRST_PAGE, Screen, parse, spell
from viz.stories.story import bare

IN_APP = "in the app"
"""Said behind the words of a link to what a page has not."""
_LINK = re.compile(r'<a data-state href="([^"]*)"([^>]*)>(.*?)</a>', re.S)
"""A link to a screen of the app, as cards and words of stories have it."""


@dataclass(frozen=True)
class Listing:
    """One of the page's lists."""

    name: str
    """The name of the page, as an address has it."""
    title: str
    subject: str
    """The first line of the page."""
    body: str
    """HTML."""


@dataclass(frozen=True)
class Shelf:
    """All that stands beside the page in which a model answers."""

    lists: Sequence[Listing] = ()
    pages: Iterable[tuple[str, bytes]] = ()
    """Files by their paths: made one after the other, as each takes seconds."""
    places: Mapping[str, str] = field(default_factory=dict)
    """Name of a story or a lesson -> the path of its page."""
    first: str = ""
    """HTML for who has never been here: a link."""


@dataclass(frozen=True)
class TwoPictures(Picture):
    """A drawing in light and dark, as files beside the page: a browser fetches what it shows."""

    dark: str

    @property
    def files(self) -> dict[str, bytes]:
        """Paths and contents."""
        return {_place(it): it.encode() for it in (self.svg, self.dark)}

    @property
    def html(self) -> str:
        return (
            f'<picture><source media="(prefers-color-scheme: dark)" srcset="{_place(self.dark)}">'
            f'<img loading="lazy" src="{_place(self.svg)}" alt="{html.escape(self.alt)}"></picture>'
        )


def _place(svg: str) -> str:
    return f"gallery/{digest(svg.encode())}.svg"


def leading(body: str, to: Callable[[Screen], str], otherwise: str) -> str:
    """HTML of the app whose links lead to what is here.

    to: the address of a screen in the folder; empty where it has none: then `otherwise` stands
    behind the link's words, in brackets.
    """

    def link(match: re.Match[str]) -> str:
        address, rest, words = match.groups()
        if there := to(_screen(html.unescape(address))):
            return f'<a href="{html.escape(there)}"{rest}>{words}</a>'
        return f'{words} <span class="app">({html.escape(otherwise)})</span>'

    return _LINK.sub(link, body)


def _screen(address: str) -> Screen:
    parts = urlsplit(address)
    page = parts.path.rpartition("/")[2] or FIRST_PAGE
    return parse({"page": page, **dict(parse_qsl(parts.query, keep_blank_values=True))})


def address_of(screen: Screen) -> str:
    """The address of a screen in the page."""
    return f"?{urlencode(spell(bare(screen)), quote_via=quote, safe=',/:', errors='replace')}"


def nowhere(screen: Screen) -> str:
    """Return the address in a page that leads to no other."""
    return ""


def scene_of(screen: Screen, places: Mapping[str, str]) -> str:
    """The address of the recorded scene that a screen is of; empty where there is none."""
    place = places.get(screen.story or "", "")
    return place and (f"{place}#{screen.scene}" if screen.scene > 1 else place)


def lacking(
    screen: Screen,
    choices: Collection[str],
    pages: Collection[str],
    methods: Mapping[str, Sequence[str]],
) -> list[str]:
    """Return what the page does not do of a screen, as "name=value".

    choices: those that it reads. methods: name of a checkpoint -> its decoding methods.
    """
    own = methods.get(screen.checkpoint or next(iter(methods)), ())
    lacks = {
        "page": screen.page not in pages,
        "checkpoint": screen.checkpoint is not None and screen.checkpoint not in methods,
        "decoding": screen.decoding is not None and screen.decoding not in own,
        "picture": screen.picture == "why",
        "edits": any(each.split(":")[0] not in EDITS for each in screen.edits),
    }
    spelled = spell(bare(screen))
    return [f"{name}={spelled[name]}" for name in spelled if lacks.get(name, name not in choices)]


EDITS = ("head-off", "cut", "hide")
"""The kinds of edits that the page makes: `isDone` of page/chosen.js."""
