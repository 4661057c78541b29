"""The address of a scene, as somebody copied it from a browser or wrote it by hand -> a Screen."""

from dataclasses import dataclass
from functools import cache
from ipaddress import ip_address
from pathlib import Path
from pkgutil import iter_modules
from urllib.parse import parse_qsl, unquote, urlsplit

from transformer.files.foreign_text import clean, some_of
from viz.screen import FIRST_PAGE, Screen, parse, unread
from viz.stories.story import bare

PAGES = Path(__file__).parents[1] / "pages"


@dataclass(frozen=True)
class Destination:
    """A screen and the server that an address names."""

    screen: Screen
    """The screen, outside any story, whatever the address says."""
    host: str = ""
    """The server that it names, where that cannot be a person's own machine."""


@cache
def page_names() -> frozenset[str]:
    """The app's pages: the modules of their folder, which nothing below them may import."""
    return frozenset(module.name for module in iter_modules([str(PAGES)]))


def read_address(address: str) -> Destination:
    """Return the screen of an address. Raises ValueError, in a clause, where it is none of ours."""
    try:
        parts = urlsplit(address)
        host = parts.hostname or ""
    except ValueError as error:
        raise ValueError(f"{clean(address, 60)} is not an address") from error
    page = unquote(parts.path.rpartition("/")[2]) or FIRST_PAGE
    if page not in page_names():
        names = ", ".join(sorted(page_names()))
        raise ValueError(f"the app has no page {clean(page, 40)}, only {names}")
    entries = {"page": page, **dict(parse_qsl(parts.query, keep_blank_values=True))}
    if wrong := unread(entries):
        raise ValueError(f"the screen says {some_of(wrong, 3)}, which cannot be read")
    return Destination(bare(parse(entries)), "" if _is_own(host) else host)


def _is_own(host: str) -> bool:
    """Tell whether an address that somebody copied from their own app may name this host."""
    if host in ("", "localhost"):
        return True
    try:
        return ip_address(host).is_private
    except ValueError:
        return False
