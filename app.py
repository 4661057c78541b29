"""Headscope: page config and navigation. Run it with `make run`, or `streamlit run app.py`."""

from pathlib import Path
from typing import Any

import streamlit as st

import viz
from viz.choice import SESSION

IMAGES = Path(viz.__file__).parent / "ui"


def _pages() -> dict[str, Any]:
    """All pages of the app; to find them takes seconds, once."""
    from transformer.discover import discover

    pages: dict[str, Any] = discover("viz.pages", "PAGE")
    return pages


if __name__ != "__main__":  # the server loads it, once
    from viz.server.serving import lifespan, middleware, routes, say_fault

    around: dict[str, Any] = {"routes": routes(_pages), "middleware": middleware(_pages)}
    app = st.App(__file__, lifespan=lifespan, on_script_error=say_fault, **around)
else:  # each run of a session
    if SESSION not in st.session_state:  # the browser keeps it, and takes long to change it
        st.set_page_config(
            page_title="Headscope",
            page_icon=str(IMAGES / "icon.svg"),
            layout="wide",
            initial_sidebar_state="collapsed",
        )
    st.logo(str(IMAGES / "logo.svg"), size="large")

    pages = _pages()  # after the page's settings
    from viz.ui.layout import show

    first, *others = sorted(pages.values(), key=lambda page: page.order)
    links = {
        st.Page(
            lambda: None,
            title=page.title,
            url_path=page.name,
            default=page is first,
            visibility="hidden" if page.lesson else "visible",
        ): page
        for page in (first, *others)
    }
    groups: dict[str, list[Any]] = {}
    for link, page in links.items():
        groups.setdefault(page.group, []).append(link)
    show(links[st.navigation(groups, position="top")], pages)
