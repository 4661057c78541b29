"""Values -> colours of a figure, by the laws of viz/components/kit/shade.js."""

from collections.abc import Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

N_LEVELS = 256
"""Colours of a scale in a figure."""


def channels(colour: str) -> tuple[int, ...]:
    """#rrggbb as three numbers up to 255."""
    return tuple(int(colour[i : i + 2], 16) for i in (1, 3, 5))


def colour_at(scale: Sequence[str], share: float) -> str:
    """The colour of a scale at 0 to 1, between two of its stops by a straight line."""
    place = min(1.0, max(0.0, share)) * (len(scale) - 1)
    i = min(len(scale) - 2, int(place))
    pairs = zip(channels(scale[i]), channels(scale[i + 1]), strict=True)
    return "#" + "".join(f"{round(a + (b - a) * (place - i)):02x}" for a, b in pairs)


def palette_of(scale: Sequence[str], masked: str) -> tuple[str, ...]:
    """N_LEVELS even steps of a scale, and last the colour of masked cells."""
    return _palette_of(tuple(scale), masked)


@cache
def _palette_of(scale: tuple[str, ...], masked: str) -> tuple[str, ...]:
    """Once for all heads of a grid; there are as many as themes and scales."""
    return (*(colour_at(scale, i / (N_LEVELS - 1)) for i in range(N_LEVELS)), masked)


def levels_of(
    values: NDArray[np.floating], bounds: tuple[float, float], is_signed: bool
) -> NDArray[np.int16]:
    """The number of each value's colour, NaN being masked; what has no sign by its root."""
    low, high = bounds
    shares = np.clip((values - low) / ((high - low) or 1), 0, 1)
    if not is_signed:
        shares = np.sqrt(shares)
    levels = np.rint(np.nan_to_num(shares) * (N_LEVELS - 1)).astype(np.int16)
    return np.where(np.isnan(values), N_LEVELS, levels).astype(np.int16)


def ink_on(colour: str) -> str:
    """Black or white, whichever reads better on a colour."""
    light = luminance(colour)
    return "#000000" if (light + 0.05) / 0.05 > 1.05 / (light + 0.05) else "#ffffff"


def luminance(colour: str) -> float:
    """WCAG's relative luminance, 0 to 1."""
    r, g, b = (
        c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4
        for c in (channel / 255 for channel in channels(colour))
    )
    return 0.2126 * r + 0.7152 * g + 0.0722 * b
