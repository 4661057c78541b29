"""One page serves many tests: a visit has a number in the address and finds nothing of another."""

from typing import Any

import streamlit as st


def visit() -> str:
    """The number, for the keys of what is drawn."""
    return st.query_params.get("visit", "")


def kept() -> dict[str, Any]:
    """What the script keeps of this visit: a component that tells late tells its own."""
    kept: dict[str, Any] = st.session_state.setdefault(f"kept {visit()}", {})
    return kept
