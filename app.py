"""Headscope: the frame. Run it with `make run`; `streamlit run app.py` is the same."""

from pathlib import Path

import streamlit as st

HERE = Path(__file__).parent
PAGES, IMAGES = HERE / "viz" / "pages", HERE / "viz" / "ui"
FILES = {
    "Explore": PAGES / "explore.py",
    "Compare": PAGES / "compare.py",
    "Decode": PAGES / "decode.py",
    "Positions": PAGES / "positions.py",
    "Inspect": PAGES / "inspect.py",
    "Masks": PAGES / "masks.py",
    "Training": PAGES / "training.py",
    "Why attention": PAGES / "why_attention.py",
    "Gallery": PAGES / "gallery.py",
}

if __name__ != "__main__":  # the server loads it, once
    from viz.ui.serving import lifespan, routes

    app = st.App(__file__, lifespan=lifespan, routes=routes())
else:  # each run of a session
    if "is_set_up" not in st.session_state:  # the browser keeps it, and takes long to change it
        st.set_page_config(
            page_title="Headscope",
            page_icon=str(IMAGES / "icon.svg"),
            layout="wide",
            initial_sidebar_state="collapsed",
        )
    st.logo(str(IMAGES / "logo.svg"), size="large")
    page = st.navigation(
        [st.Page(file, title=title, default=title == "Explore") for title, file in FILES.items()],
        position="top",
    )

    from viz.ui.body import body  # after the page's settings: this takes seconds, once

    body(page.title, FILES[page.title])
    st.session_state["is_set_up"] = True
