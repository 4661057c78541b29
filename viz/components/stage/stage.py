"""Parts of a page in a talk: its keys, the place within it, the overview, and its room."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from viz.components.kit.browser import Component, pack, palette
from viz.components.kit.sync import show
from viz.theme import Theme

STAGE = Component("stage")


def stage(
    title: str,
    scenes: Sequence[tuple[str, str]],
    *,
    theme: Theme,
    recorded: str,
    is_told: bool,
    key: str = "stage",
    **talk: str | dict[str, str],
) -> None:
    """Hear the keys of a talk and those who are in its room; stand in for what fails.

    scenes: heading and link of each. recorded: where the recording of all scenes is asked for, or
    empty. is_told: whether the screen is as the scene has it: what somebody else chose has no
    recording. talk, all of them links unless said otherwise:
    leave: the same screen without the talk. start: where the window goes at once, or empty.
    here, asked, led: what is shown; what was opened last; the same without what does not exist.
    opened: how many addresses were opened so far.
    tool: the same screen, where a click does something else. next: the scene after this one.
    code: of its room. rooms: the path of all rooms. windows: the stage and the presenter's
    window in that room. audience: link, QR code and why there is none.
    """
    header: dict[str, Any] = {"title": title, "palette": palette(theme), **talk}
    header |= {"recorded": recorded, "told": is_told}
    header["scenes"] = [{"heading": heading, "link": link} for heading, link in scenes]
    show(STAGE, pack(header, np.zeros(0, np.uint8)), key)
