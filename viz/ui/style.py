"""The few rules that Streamlit's theme has no setting for."""

import streamlit as st

from viz.theme import Theme
from viz.ui.state import current_theme

_CSS = """
<style>
  [data-testid="stMainBlockContainer"] { padding: 3.6rem 2rem 2rem; max-width: 1500px; }
  [data-testid="stMain"] { font-variant-numeric: tabular-nums; }
  [data-testid="stMain"]:focus-visible { outline: none; }
  /* The last result stays as it is until the new one is there. */
  [data-stale="true"] { opacity: 1 !important; }
  /* Of these popovers the icon is enough to see; their names are still read aloud. */
  .st-key-options button [data-testid="stMarkdownContainer"],
  .st-key-files button [data-testid="stMarkdownContainer"] {
    position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%);
  }
  /* "Press Enter to apply" stands beside the field's name, not over what is typed. */
  [class*="st-key-text"] [data-testid="InputInstructions"] { top: -4.1rem; bottom: auto; }
  /* It draws nothing, and takes no place. */
  .st-key-address { position: absolute; }
  @media (max-width: 640px) {
    [data-testid="stMainBlockContainer"] { padding: 3.6rem 0.75rem 2rem; }
    /* Kind, layer and head of a phone stand in one line. */
    [class*="st-key-kind"] [role="radio"] { padding-inline: 0.6rem; }
  }
</style>
"""


def style() -> None:
    """Less padding than Streamlit's own, digits of one width, and text that can be read."""
    st.html(_CSS + _readable(current_theme()))


def _readable(theme: Theme) -> str:
    """Colours where Streamlit's own are under 4.5:1: captions, and white on a light accent."""
    return f"""
<style>
  .stMarkdown [data-testid="stCaptionContainer"] {{ color: {theme.dim}; opacity: 1; }}
  .stMultiSelect [data-tag] {{ color: {theme.background}; }}
</style>
"""
