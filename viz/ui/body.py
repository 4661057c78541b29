"""What stands below the navigation: the frame, the spine and the page that is open."""

from pathlib import Path
from runpy import run_path

import streamlit as st

from viz.ui.address import open_page
from viz.ui.current import SHOWN
from viz.ui.drafts import drafted
from viz.ui.frame import frame, open_checkpoint
from viz.ui.garbage import freeze_modules
from viz.ui.spine import spine
from viz.ui.style import style


def body(page: str, file: Path) -> None:
    """Draw the page of this title, whose script is this file."""
    style()
    open_checkpoint()
    _draw(page, file)
    freeze_modules()


@st.fragment
def _draw(page: str, file: Path) -> None:
    """All but the navigation and the sidebar, which nothing on a page changes."""
    open_page(page)
    asked = frame(needs_answer=page != "Inspect")
    shown = st.session_state.get(SHOWN)
    with drafted(page, asked, shown):
        spine(page)
        run_path(str(file))
