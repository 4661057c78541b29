"""The few rules that Streamlit's theme has no setting for."""

import streamlit as st

from viz.theme import Theme
from viz.ui.state import current_theme

_CSS = """
<style>
  [data-testid="stMainBlockContainer"] { padding: 4.2rem 2rem 1rem; max-width: 2400px; }
  [data-testid="stMain"] { font-variant-numeric: tabular-nums; }
  [data-testid="stMain"]:focus-visible { outline: none; }
  /* The last result stays as it is until the new one is there. */
  [data-stale="true"] { opacity: 1 !important; }
  /* Of these popovers the icon is enough to see; their names are still read aloud. */
  .st-key-options button [data-testid="stMarkdownContainer"],
  .st-key-files button [data-testid="stMarkdownContainer"] {
    position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%);
  }
  /* What is typed is shown at once: nothing has to be applied. */
  [class*="st-key-text"] [data-testid="InputInstructions"] { display: none; }
  /* It draws nothing, and takes no place. */
  .st-key-address { position: absolute; }
  /* On a large screen, which is far away, all of it is larger. */
  @media (min-width: 1800px) {
    html { font-size: 20px !important; }
    [class*="st-key-layer"], [class*="st-key-head"],
    [class*="st-key-layer"] .stSelectbox, [class*="st-key-head"] .stSelectbox {
      width: 5.2rem !important; flex: none;
    }
    [class*="st-key-kind"], [class*="st-key-decoding"] { min-width: 8.6rem; }
  }
  /* Columns stand below each other as soon as controls would be cut: 200 % zoom, a tablet. */
  @media (max-width: 1000px) {
    [data-testid="stMain"] [data-testid="stHorizontalBlock"] { flex-wrap: wrap; }
    [data-testid="stMain"] [data-testid="stColumn"] { min-width: calc(100% - 1.5rem); }
  }
  @media (max-width: 640px) {
    [data-testid="stMainBlockContainer"] { padding: 4.2rem 0.75rem 2rem; }
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
