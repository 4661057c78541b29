"""The address of the picture of a scene: of what it shows, so that another one is another's."""

from hashlib import sha256
from urllib.parse import urlencode

from viz.screen import Screen, link

PATH = "thumbnail"
DIGITS = 16
"""The digits of a scene's key."""


def thumbnail_address(code: str, screen: Screen, theme: str) -> str:
    """The address of a scene's picture, relative to any page. code: of its story."""
    entries = {"draft": code, "of": key_of(screen), "theme": theme}
    return f"./{PATH}?{urlencode(entries)}"


def key_of(screen: Screen) -> str:
    """The name of what a scene shows, in the address of its picture."""
    return sha256(link(screen).encode(errors="replace")).hexdigest()[:DIGITS]
