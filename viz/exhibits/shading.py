"""The laws by which a number gets its place on a colour scale: by its root, or evenly.

viz/components/kit/shade.js says the same to the browser.
"""

from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from viz.map_words import uncapitalised

Scale = Literal["share", "signed"]
"""From 0 to the theme's dark end, or from one end over 0 to the other."""
SCALES: tuple[Scale, ...] = get_args(Scale)
UNIT = 1.0
POWER = 2
"""A place by the root has this power as its value."""


@dataclass(frozen=True)
class Shading:
    """A colour scale with the values of its two ends."""

    title: str
    scale: Scale
    low: float
    high: float
    is_rooted: bool = False
    is_clipped: bool = False
    """Values beyond the two ends may occur; they take the colours of the ends."""

    @property
    def legend(self) -> str:
        """The title, with the law by which numbers become colours where that is not evenly."""
        return by_root(self.title) if self.is_rooted else self.title

    @property
    def law(self) -> str:
        """The same as a sentence of a caption; empty where numbers become colours evenly."""
        return root_law(self.title) if self.is_rooted else ""

    def places(self, values: NDArray[Any]) -> NDArray[Any]:
        """Values -> their places, 0 to 1; NaN stays so."""
        return places(values, (self.low, self.high), self.is_rooted)


def by_root(title: str) -> str:
    """Say beside a bar of colours what it measures, and that they go by the root of that."""
    return f"{title} (square-root scale)"


def root_law(title: str) -> str:
    """The same in a caption.

    >>> root_law("Weight")
    'A colour goes by the square root of the weight.'
    """
    return f"A colour goes by the square root of the {uncapitalised(title)}."


def weights() -> Shading:
    """0 to 1, whatever the head: so that heads compare."""
    return Shading("weight", "share", 0.0, UNIT, is_rooted=True)


def differences(title: str, bound: float = UNIT, is_clipped: bool = False) -> Shading:
    """-bound to bound, with 0 as the background."""
    return Shading(title, "signed", -bound, bound, is_clipped=is_clipped)


def places(
    values: NDArray[Any], ends: tuple[float, float], is_rooted: bool
) -> NDArray[np.floating[Any]]:
    """The places of values between two ends, 0 to 1; NaN stays so."""
    low, high = ends
    shares = np.clip((values - low) / ((high - low) or 1), 0, 1)
    return np.sqrt(shares) if is_rooted else shares


def rooted(value: float, largest: float = UNIT) -> float:
    """The place of a value, by the root of its share of the largest: small ones stay visible.

    >>> rooted(0.25), rooted(-1.0, 4.0), rooted(9.0, 4.0), rooted(1.0, 0.0)
    (0.5, -0.5, 1.0, 0.0)
    """
    place = abs(even(value, largest)) ** (1 / POWER)
    return place if value >= 0 else -place


def even(value: float, largest: float = UNIT) -> float:
    """The place of a value, by its share of the largest: what does next to nothing is quiet.

    >>> even(0.25), even(-1.0, 4.0), even(9.0, 4.0), even(1.0, 0.0)
    (0.25, -0.25, 1.0, 0.0)
    """
    return max(-1.0, min(1.0, value / largest)) if largest > 0 else 0.0
