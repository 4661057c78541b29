"""A field for a whole number that the address may say."""

import math
from contextlib import suppress
from typing import Any, Literal

import streamlit as st
from streamlit.errors import StreamlitAPIException


def whole_number(
    title: str, least: int, most: int, default: int, key: str, step: int = 1, **look: Any
) -> int:
    """What is chosen. look: what else `st.number_input` takes.

    Streamlit 1.67 ends in an OverflowError where ?seed=1e400 is to become a whole number: such an
    address has no say, and is mended.
    """
    bind: Literal["query-params"] | None = "query-params"
    if _is_infinite(st.query_params.get(key, "")):
        bind = None
        with suppress(StreamlitAPIException):  # bound already: somebody went back to it
            del st.query_params[key]
    return st.number_input(title, least, most, default, step, key=key, bind=bind, **look)


def _is_infinite(said: str) -> bool:
    try:
        return math.isinf(float(said))
    except ValueError:
        return False
