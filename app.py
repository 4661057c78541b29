"""Headscope: the frame. Run it with `make run`."""

from pathlib import Path

import streamlit as st

HERE = Path(__file__).parent
PAGES, IMAGES = HERE / "viz" / "pages", HERE / "viz" / "ui"

if "is_set_up" not in st.session_state:  # the browser keeps it, and takes long to change its icon
    st.set_page_config(
        page_title="Headscope",
        page_icon=str(IMAGES / "icon.svg"),
        layout="wide",
        initial_sidebar_state="collapsed",
    )
st.logo(str(IMAGES / "logo.svg"), size="large")

from viz.ui.ahead import prepare  # noqa: E402  (the page's settings must come first)
from viz.ui.frame import frame  # noqa: E402
from viz.ui.garbage import freeze_modules  # noqa: E402
from viz.ui.spine import spine  # noqa: E402
from viz.ui.style import style  # noqa: E402

page = st.navigation(
    [
        st.Page(PAGES / "explore.py", title="Explore", default=True),
        st.Page(PAGES / "compare.py", title="Compare"),
        st.Page(PAGES / "decode.py", title="Decode"),
        st.Page(PAGES / "positions.py", title="Positions"),
        st.Page(PAGES / "inspect.py", title="Inspect"),
        st.Page(PAGES / "masks.py", title="Masks"),
        st.Page(PAGES / "training.py", title="Training"),
        st.Page(PAGES / "why_attention.py", title="Why attention"),
        st.Page(PAGES / "gallery.py", title="Gallery"),
    ],
    position="top",
)
prepare(page.title)
style()
frame(needs_answer=page.title != "Inspect")
spine(page.title)
page.run()
st.session_state["is_set_up"] = True
freeze_modules()
