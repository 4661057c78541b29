"""Colours of a chart's marks in a theme."""

from viz.exhibits.chart import Ink
from viz.theme import SERIES, Theme


def colour_of(ink: Ink, theme: Theme) -> str:
    """The colour as #rrggbb."""
    if isinstance(ink, int):
        return SERIES[ink]
    return {"text": theme.text, "dim": theme.dim, "accent": theme.accent}[ink]
