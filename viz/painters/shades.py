"""The colours of a table's shades, and what can be read on them."""

from functools import cache

from viz.exhibits.shading import stop_of
from viz.exhibits.table import Scale
from viz.paper.shades import luminance
from viz.theme import Theme

LEGIBLE = 4.5
"""The contrast that small text needs (WCAG 2.2)."""


def stops_of(scale: Scale, theme: Theme) -> list[str]:
    """The colours of a scale, from its low end to its high one."""
    return theme.difference_scale if scale == "signed" else theme.attention_scale


@cache
def grounds_of(scale: Scale, theme: Theme) -> tuple[tuple[str, str], ...]:
    """Of each stop of a scale, its colour and that of what is written on it."""
    return tuple((colour, legible(colour, theme)) for colour in stops_of(scale, theme))


def ground_at(shade: float, scale: Scale, theme: Theme) -> tuple[str, str]:
    """The colours at a place on a scale."""
    return grounds_of(scale, theme)[stop_of(shade, scale == "signed")]


def legible(colour: str, theme: Theme) -> str:
    """What can be read on a colour: the theme's text or background, else white or black."""
    own = luminance(colour)
    inks = (theme.text, theme.background, "#ffffff", "#000000")
    return next(ink for ink in inks if contrast(luminance(ink), own) >= LEGIBLE)  # one always is


def contrast(a: float, b: float) -> float:
    """Of two luminances, 1 to 21 (WCAG 2.2)."""
    return (max(a, b) + 0.05) / (min(a, b) + 0.05)
