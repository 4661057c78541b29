"""Remarks on an evaluation, beside its scores: on standard error, clear of progress bars."""

import sys

from tqdm import tqdm


def say(sentence: str) -> None:
    """Tell the person who waits; scores go elsewhere, so that JSON stays JSON."""
    tqdm.write(sentence, file=sys.stderr)
