"""The laws by which a number gets its place on a colour scale: by its root, or evenly."""

from viz.theme import N_STOPS

UNIT = 1.0


def rooted(value: float, largest: float = UNIT) -> float:
    """The place of a value, by the root of its share of the largest: small ones stay visible.

    >>> rooted(0.25), rooted(-1.0, 4.0), rooted(9.0, 4.0), rooted(1.0, 0.0)
    (0.5, -0.5, 1.0, 0.0)
    """
    place = abs(even(value, largest)) ** 0.5
    return place if value >= 0 else -place


def even(value: float, largest: float = UNIT) -> float:
    """The place of a value, by its share of the largest: what does next to nothing is quiet.

    >>> even(0.25), even(-1.0, 4.0), even(9.0, 4.0), even(1.0, 0.0)
    (0.25, -0.25, 1.0, 0.0)
    """
    return max(-1.0, min(1.0, value / largest)) if largest > 0 else 0.0


def stop_of(place: float, is_signed: bool) -> int:
    """The number of the nearest stop of the theme's scale of differences, or of attention.

    >>> stop_of(-1.0, True), stop_of(0.0, True), stop_of(1.0, True), stop_of(1.0, False)
    (0, 16, 32, 16)
    """
    middle = N_STOPS - 1
    return round(place * middle) + (middle if is_signed else 0)
