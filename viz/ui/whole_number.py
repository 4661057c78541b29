"""A field for a whole number that the address may say."""

from typing import Any

import streamlit as st


def whole_number(
    title: str, least: float, most: float, default: float, key: str, step: float = 1, **look: Any
) -> int:
    """What is chosen. look: what else `st.number_input` takes.

    Streamlit 1.67 ends in an OverflowError where ?seed=1e400 is to become a whole number; of a
    number with a fraction it makes the default, as of all that is no number here.
    """
    chosen: float = st.number_input(
        title,
        float(least),
        float(most),
        float(default),
        float(step),
        format="%.0f",
        key=key,
        bind="query-params",
        **look,
    )
    return int(chosen)
