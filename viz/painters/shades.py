"""Places on a colour scale as colours, and colours of a chart's marks."""

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from viz.exhibits.chart import Ink, Scale, places
from viz.theme import N_STOPS, SERIES, Theme

# Places on a colour scale as colours, on a screen and on a sheet, and what can be read on them.

N_LEVELS = 256
"""Colours of a scale on a sheet."""
LEGIBLE = 4.5
"""The contrast that small text needs (WCAG 2.2)."""


def stops_of(scale: Scale, theme: Theme) -> list[str]:
    """The colours of a scale, from its low end to its high one."""
    return theme.difference_scale if scale == "signed" else theme.attention_scale


def stop_of(place: float, is_signed: bool) -> int:
    """The number of the nearest stop of a scale.

    >>> stop_of(-1.0, True), stop_of(0.0, True), stop_of(1.0, True), stop_of(1.0, False)
    (0, 16, 32, 16)
    """
    middle = N_STOPS - 1
    return round(place * middle) + (middle if is_signed else 0)


@cache
def grounds_of(scale: Scale, theme: Theme) -> tuple[tuple[str, str], ...]:
    """Return the colour of each stop of a scale, and that of words on it."""
    return tuple((colour, legible(colour, theme)) for colour in stops_of(scale, theme))


def ground_at(shade: float, scale: Scale, theme: Theme) -> tuple[str, str]:
    """The colours at a place on a scale."""
    return grounds_of(scale, theme)[stop_of(shade, scale == "signed")]


def colour_at(stops: Sequence[str], share: float) -> str:
    """The colour of a scale at 0 to 1, between two of its stops by a straight line."""
    place = min(1.0, max(0.0, share)) * (len(stops) - 1)
    i = min(len(stops) - 2, int(place))
    pairs = zip(channels(stops[i]), channels(stops[i + 1]), strict=True)
    return "#" + "".join(f"{round(a + (b - a) * (place - i)):02x}" for a, b in pairs)


def palette_of(stops: Sequence[str], *more: str) -> tuple[str, ...]:
    """N_LEVELS even steps of a scale, and last further colours, as that of masked cells."""
    return (*_levels(tuple(stops)), *more)


@cache
def _levels(stops: tuple[str, ...]) -> tuple[str, ...]:
    """Once for all heads of a grid; there are as many as themes and scales."""
    return tuple(colour_at(stops, i / (N_LEVELS - 1)) for i in range(N_LEVELS))


def levels_of(
    values: NDArray[np.floating[Any]], ends: tuple[float, float], is_rooted: bool
) -> NDArray[np.int16]:
    """The number of each value's colour; NaN has the one after all of the scale."""
    levels = np.rint(np.nan_to_num(places(values, ends, is_rooted)) * (N_LEVELS - 1))
    return np.where(np.isnan(values), N_LEVELS, levels).astype(np.int16)


def channels(colour: str) -> tuple[int, ...]:
    """#rrggbb as three numbers up to 255."""
    return tuple(int(colour[i : i + 2], 16) for i in (1, 3, 5))


def ink_on(colour: str) -> str:
    """Black or white, whichever reads better on a colour."""
    own = luminance(colour)
    return "#000000" if contrast(own, 0.0) > contrast(own, 1.0) else "#ffffff"


def legible(colour: str, theme: Theme) -> str:
    """Return a legible ink for a colour: the theme's text or background, else white or black."""
    own = luminance(colour)
    inks = (theme.text, theme.background, "#ffffff", "#000000")
    return next(ink for ink in inks if contrast(luminance(ink), own) >= LEGIBLE)  # one always is


def luminance(colour: str) -> float:
    """WCAG's relative luminance, 0 to 1."""
    r, g, b = (
        c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4
        for c in (channel / 255 for channel in channels(colour))
    )
    return 0.2126 * r + 0.7152 * g + 0.0722 * b


def contrast(a: float, b: float) -> float:
    """Return the contrast of two luminances, 1 to 21 (WCAG 2.2)."""
    return (max(a, b) + 0.05) / (min(a, b) + 0.05)


# Colours of a chart's marks in a theme.


def colour_of(ink: Ink, theme: Theme) -> str:
    """The colour as #rrggbb."""
    if isinstance(ink, int):
        return SERIES[ink]
    if isinstance(ink, tuple):
        family, number = ink
        colours = theme.mask_colours if family == "mask" else theme.head_colours
        return colours[number % len(colours)]
    named = {"below": theme.difference_scale[0], "above": theme.difference_scale[-1]}
    return named.get(ink) or str(getattr(theme, ink))
