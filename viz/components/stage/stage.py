"""What a talk adds to the page: its keys, the place within it, and the overview of its scenes."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import streamlit as st

from viz.components.kit.browser import Component, palette
from viz.components.kit.pack import pack
from viz.components.kit.sync import show
from viz.theme import Theme

STAGE = Component("stage")
_COMPONENT = st.components.v2.component(STAGE.name, html=STAGE.html, css=STAGE.css, js=STAGE.js)


def stage(
    title: str,
    scenes: Sequence[tuple[str, str]],
    *,
    leave: str,
    recorded: str,
    is_told: bool,
    theme: Theme,
    key: str = "stage",
) -> None:
    """Hear the keys of a talk, and stand in for the live scene where that fails.

    scenes: heading and link of each. leave: the link to the same screen without the talk; recorded:
    where the recording of all scenes is asked for. is_told: whether the screen is as the scene has
    it: what somebody else chose has no recording.
    """
    header: dict[str, Any] = {"title": title, "leave": leave, "palette": palette(theme)}
    header |= {"recorded": recorded, "told": is_told}
    header["scenes"] = [{"heading": heading, "link": link} for heading, link in scenes]
    show(_COMPONENT, pack(header, np.zeros(0, np.uint8)), key)
