"""A field for a whole number that the address may say."""

import math
from typing import Any, Literal

import streamlit as st


def whole_number(
    title: str, least: int, most: int, default: int, key: str, step: int = 1, **look: Any
) -> int:
    """What is chosen. look: what else `st.number_input` takes.

    Streamlit 1.67 ends in an OverflowError where ?seed=1e400 is to become a whole number: while
    the address says such a thing, it has no say.
    """
    bind: Literal["query-params"] | None = "query-params"
    if _is_infinite(st.query_params.get(key, "")):
        bind = None
    return st.number_input(title, least, most, default, step, key=key, bind=bind, **look)


def _is_infinite(said: str) -> bool:
    try:
        return math.isinf(float(said))
    except ValueError:
        return False
