"""The declaration of a drawing of a figure, and the data that it draws."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from viz.components.kit.pack import unpack
from viz.paper.sheet import Sheet


@dataclass(frozen=True, eq=False)
class Data:
    """The data of a browser component: a figure shows the same numbers in the same state."""

    state: dict[str, Any]
    """Colours ("palette"), and what is chosen: heads, pins, a cell, a step."""
    header: dict[str, Any]
    arrays: list[NDArray[Any]]

    @property
    def colours(self) -> dict[str, Any]:
        return dict(self.state["palette"])


@dataclass(frozen=True)
class Drawing:
    """One component's picture as a figure."""

    name: str
    """The name of the component."""
    draw: Callable[[Data, float], Sheet]
    """(what the browser is sent, width in points) -> the figure."""
    width: float
    """In inches, where none is said: one column of a paper, or two."""
    law: Callable[[Data], str] = lambda data: ""
    """The law by which its numbers become colours, as a sentence; empty: evenly, or by none."""


def read_data(data: bytes) -> Data:
    """Unpack what `Picture.data` gives."""
    state, (payload,) = unpack(data)
    header, arrays = unpack(payload.tobytes())
    return Data(state, header, arrays)


def opened(array: NDArray[np.uint8]) -> tuple[dict[str, Any], list[NDArray[Any]]]:
    """A payload that is packed within another."""
    return unpack(array.tobytes())
