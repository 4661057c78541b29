"""The page until the app has drawn: the sentence that an address asks for, and a picture."""

import html
from pathlib import Path
from string import Template
from urllib.parse import parse_qsl

from viz.screen import parse
from viz.theme import DARK, LIGHT

PAGE = Template(Path(__file__).with_suffix(".html").read_text("utf-8"))
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
