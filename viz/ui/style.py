"""The few rules that Streamlit's theme has no setting for."""

import streamlit as st

_CSS = """
<style>
  [data-testid="stMainBlockContainer"] { padding: 3.6rem 2rem 2rem; max-width: 1500px; }
  [data-testid="stMain"] { font-variant-numeric: tabular-nums; }
  [data-testid="stMain"]:focus-visible { outline: none; }
  /* The last result stays as it is until the new one is there. */
  [data-stale="true"] { opacity: 1 !important; }
  @media (max-width: 640px) {
    [data-testid="stMainBlockContainer"] { padding: 3.6rem 0.75rem 2rem; }
  }
</style>
"""


def style() -> None:
    """Less padding than Streamlit's own, and digits of one width."""
    st.html(_CSS)
