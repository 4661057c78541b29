"""Colours of a chart's marks in a theme."""

from viz.exhibits.chart import Ink
from viz.theme import SERIES, Theme


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
