"""The sentence and its translation as tokens: the spine of every page."""

from collections.abc import Sequence

import streamlit as st

from transformer.tokenizer import Token
from viz.components.browser import palette, pieces, script, style
from viz.theme import Theme

_COMPONENT = st.components.v2.component(
    "token_rows",
    html='<div class="headscope token-rows"></div>',
    css=style("page", "token_rows"),
    js=script("page", "token_rows"),
)


def token_rows(
    source: Sequence[Token],
    target: Sequence[Token],
    theme: Theme,
    key: str,
    titles: tuple[str, str] = ("source", "target"),
) -> None:
    """Two lines of tokens. Pointing at one marks it in every component of the page."""
    _COMPONENT(
        key=key,
        data={
            "palette": palette(theme),
            "source": pieces(source),
            "target": pieces(target),
            "titles": list(titles),
        },
    )
