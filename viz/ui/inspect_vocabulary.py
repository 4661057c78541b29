"""The vocabulary with a search, and how a text splits."""

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from transformer.tokenizer import Tokenizer, TokenizerError
from viz.labels import label, literal
from viz.ui.current import current_theme
from viz.ui.inspected import Key, inspected, tokenizer_of
from viz.views.split_text import split_text

HEIGHT = 440
LONGEST = 2000
"""Characters of a text that is split here."""


def vocabulary(key: Key, top: DeltaGenerator) -> None:
    """How a text splits, beside the pieces there are."""
    found = inspected(key)
    try:
        tokenizer = tokenizer_of(key)
    except TokenizerError as error:
        st.error(literal(f"{found.path.name}: {error}"))
        return
    splits, pieces = st.columns(2, gap="large")
    with splits:
        text = st.text_input(
            "How a text splits",
            value=next(iter(found.about.examples), ""),
            key="split",
            bind="query-params",
            max_chars=LONGEST,
        )
        try:
            ids = tokenizer.encode(text, found.family.reads)
        except TokenizerError as error:
            st.warning(literal(str(error)), icon=":material/info:")
        else:
            st.caption(f"{len(ids):,} token{'s' * (len(ids) != 1)}, as the model reads them")
            st.html(split_text([tokenizer.token(id) for id in ids], current_theme()))
    with pieces:
        _pieces(tokenizer)


def _pieces(tokenizer: Tokenizer) -> None:
    wanted = st.text_input(
        "Search the vocabulary",
        key="piece",
        bind="query-params",
        placeholder="A part of a piece, or an id",
    )
    rows = matching(tokenizer, wanted or "")
    st.caption(f"{len(rows):,} of {tokenizer.vocab_size:,} pieces")
    narrow = {name: st.column_config.Column(width="small") for name in ("Id", "Special")}
    st.dataframe(rows, hide_index=True, height=HEIGHT, column_config=narrow)


def matching(tokenizer: Tokenizer, wanted: str) -> pd.DataFrame:
    """Tokens whose piece holds the text, in any case, or whose id it is; all for no text."""
    sought, tokens = wanted.casefold(), map(tokenizer.token, range(tokenizer.vocab_size))
    rows = [
        {"Id": token.id, "Piece": label(token), "Special": "special" if token.special else ""}
        for token in tokens
        if sought in token.piece.casefold() or wanted.strip() == str(token.id)
    ]
    return pd.DataFrame(rows, columns=["Id", "Piece", "Special"])
