"""Repetition: the tokens that would write the same run once more."""

from collections.abc import Sequence

LONGEST_RUN = 6
"""Tokens of a run that is looked at for repetition."""


def barred(ids: Sequence[int], repeats: int) -> set[int]:
    """The tokens that would begin again a run that the end of ids has `repeats` times already.

    A run is one to six tokens. repeats: 0 bars nothing.
    """
    lengths = range(1, LONGEST_RUN + 1) if repeats else ()
    ends = [tuple(ids[-n * repeats :]) for n in lengths if n * repeats <= len(ids)]
    return {end[0] for end in ends if end == end[: len(end) // repeats] * repeats}


def repeats_more(ids: Sequence[int], repeats: int) -> bool:
    """Tell whether ids themselves repeat something more often than that."""
    return any(id in barred(ids[:at], repeats) for at, id in enumerate(ids))
