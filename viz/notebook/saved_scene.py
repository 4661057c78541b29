"""A scene of a story without a server: its pictures and charts, as they are saved."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from viz.components.kit.browser import Component
from viz.components.question.question import QUESTION, question_data
from viz.notebook.chart_image import ChartImage
from viz.notebook.picture import Data


@dataclass(frozen=True, eq=False)
class SavedPicture:
    """A component with what it draws."""

    component: Component
    data: Data
    payload: bytes
    says: str
    """The alternative text."""
    answers: Mapping[tuple[Any, ...], bytes] = field(default_factory=dict)
    """Payloads by what is asked for, as `viz.notebook.picture.picture` takes them."""


@dataclass(frozen=True, eq=False)
class SavedScene:
    """A scene as the model answered it."""

    text: str | None = None
    """The sentence that was read; None where the page is about no sentence."""
    written: str = ""
    pictures: tuple[SavedPicture, ...] = ()
    charts: tuple[ChartImage, ...] = ()
    """Drawn as images, where no component draws anything."""
    outputs: str = ""
    """The change of the output where the model is changed, as HTML."""


def question(before: bytes, after: bytes) -> SavedPicture:
    """The question of a scene. before, after: its payload without and with the answer."""
    return SavedPicture(QUESTION, question_data, before, "A question", {("reveal",): after})
