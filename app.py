"""Headscope: the frame. Run it with `make run`."""

import sys
from pathlib import Path
from runpy import run_path

import streamlit as st

HERE = Path(__file__).parent
PAGES, IMAGES = HERE / "viz" / "pages", HERE / "viz" / "ui"

# The thread that sends elements waits this long, at each step, for the script that makes them.
sys.setswitchinterval(5e-4)

if "is_set_up" not in st.session_state:  # the browser keeps it, and takes long to change its icon
    st.set_page_config(
        page_title="Headscope",
        page_icon=str(IMAGES / "icon.svg"),
        layout="wide",
        initial_sidebar_state="collapsed",
    )
st.logo(str(IMAGES / "logo.svg"), size="large")

from viz.ui.address import open_page  # noqa: E402  (the page's settings must come first)
from viz.ui.ahead import foresee  # noqa: E402
from viz.ui.current import SHOWN, current_selection  # noqa: E402
from viz.ui.frame import frame, open_checkpoint  # noqa: E402
from viz.ui.garbage import freeze_modules  # noqa: E402
from viz.ui.spine import spine  # noqa: E402
from viz.ui.style import style  # noqa: E402

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
page = st.navigation(
    [st.Page(file, title=title, default=title == "Explore") for title, file in FILES.items()],
    position="top",
)
style()
open_checkpoint()


@st.fragment
def draw() -> None:
    """All but the navigation and the sidebar, which nothing on a page changes."""
    open_page(page.title)
    foreseen = foresee(page.title)
    top, pictures = st.container(), st.container()
    if foreseen:  # what is sent first is painted first
        with pictures:
            run_path(str(FILES[page.title]))
    with top:
        frame(needs_answer=page.title != "Inspect")
        spine(page.title)
    if not foreseen:
        with pictures:
            run_path(str(FILES[page.title]))
    elif foreseen != (st.session_state[SHOWN], current_selection()):  # Back and Forward
        st.rerun()


draw()
st.session_state["is_set_up"] = True
freeze_modules()
