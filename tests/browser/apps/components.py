"""Components alone, each on a page of one server: /cell, /head_grid, /head_map and /head_view."""

from pathlib import Path

import streamlit as st

from tests.browser.apps.visit import visit

NAMES = ("cell", "head_grid", "head_map", "head_view")


def components() -> None:
    """The first page, which Streamlit puts at no path of its own."""
    st.write(", ".join(NAMES))


pages = [st.Page(Path(__file__).parent / f"{name}.py", url_path=name) for name in NAMES]
page = st.navigation([st.Page(components, default=True), *pages], position="hidden")
with st.container(key=f"visit-{visit()}"):
    page.run()
