"""The sentence and its translation as tokens: the spine of every page."""

from collections.abc import Sequence

import streamlit as st

from transformer.tokenizer import Token
from viz.components.kit.browser import Component, envelope, pieces, script, style
from viz.components.kit.pack import pack
from viz.theme import Theme

TOKEN_ROWS = Component(
    "token_rows",
    css=style("kit/page", "token_rows/token_rows"),
    js=script(
        "kit/unpack",
        "kit/page",
        "kit/drafts",
        "token_rows/typing",
        "token_rows/index",
    ),
)
_COMPONENT = st.components.v2.component(
    TOKEN_ROWS.name, html=TOKEN_ROWS.html, css=TOKEN_ROWS.css, js=TOKEN_ROWS.js
)


def token_rows(
    source: Sequence[Token],
    target: Sequence[Token],
    theme: Theme,
    key: str,
    titles: tuple[str, str] = ("source", "target"),
    drafts: str = "",
) -> None:
    """Two lines of tokens. Pointing at one marks it in every component of the page.

    drafts: an address that answers a text with bytes for the page's components, as
    viz/ui/drafts.py does; while a sentence is being typed they show these.
    """
    _COMPONENT(key=key, data=token_rows_data(source, target, theme, titles, drafts))


def token_rows_data(
    source: Sequence[Token],
    target: Sequence[Token],
    theme: Theme,
    titles: tuple[str, str],
    drafts: str,
) -> bytes:
    """What the browser is given."""
    header = {"source": pieces(source), "target": pieces(target), "titles": list(titles)}
    return envelope(pack(header), theme, drafts=drafts)
