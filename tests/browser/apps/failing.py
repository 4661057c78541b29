"""The app with a page more, which fails; with ?beside it fails before any page is drawn."""

import runpy
from pathlib import Path

import streamlit as st

from transformer.discover import discover
from viz.server.serving import say_fault
from viz.state.page import Page, Pane

APP = Path(__file__).parents[3] / "app.py"


def fail(pane: Pane) -> None:
    """Draw a part, then fail as a damaged file would."""
    st.subheader("A part of the page")
    raise ValueError("tensor 7 is cut off")


if __name__ != "__main__":
    app = st.App(__file__, on_script_error=say_fault)
else:
    pages = discover("viz.pages", "PAGE")
    pages["failing"] = Page("failing", "Failing", "Look", 10, fail)
    if "beside" in st.query_params:
        raise KeyError("beside the pages")
    runpy.run_path(str(APP), run_name="__main__")
