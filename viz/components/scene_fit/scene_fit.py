"""A button that draws every scene of a story as on a stage, and says which do not fit."""

from collections.abc import Sequence

import numpy as np

from viz.components.kit.browser import Component, digest, pack, palette
from viz.components.kit.sync import show
from viz.theme import Theme

SCENE_FIT = Component("scene_fit")


def scene_fit(scenes: Sequence[str], text: str, *, theme: Theme, key: str = "scene fit") -> None:
    """Offer the check. scenes: the link of each, on a stage. text: the story; what was found of
    another is forgotten.
    """
    header = {"scenes": list(scenes), "told": digest(text.encode()), "palette": palette(theme)}
    show(SCENE_FIT, pack(header, np.zeros(0, np.uint8)), key)
