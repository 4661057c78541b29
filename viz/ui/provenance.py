"""The checkpoint that a figure was made with, by its address; a warning where it is another."""

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from transformer.checkpoint import shipped_path
from transformer.files.foreign_text import clean
from transformer.fingerprint import fingerprint
from transformer.refusal import Refusal
from transformer.versions import version_of
from viz.screen import Screen
from viz.state.checkpoints import title

DIGITS = 16
"""The digits of a fingerprint in an address."""


def known_fingerprint(checkpoint: str) -> str:
    """Return a checkpoint's fingerprint; empty where it has no files that can be read."""
    path = shipped_path(checkpoint)
    return _fingerprint(path, version_of(path))


@lru_cache(maxsize=64)
def _fingerprint(path: Path, version: int) -> str:
    try:
        return fingerprint(path)
    except Refusal:
        return ""


def made_with(screen: Screen) -> Screen:
    """The screen, which is no figure's where the checkpoint that it names is not here."""
    return screen if screen.checkpoint is not None else replace(screen, made_with=None)


def of_figure(screen: Screen) -> str:
    """Name the checkpoint that the figure of an address was made with."""
    name = clean(Path(screen.checkpoint or "").name or "a checkpoint without a name")
    begins = clean(screen.made_with or "")
    return f"The figure was made with {name}, whose SHA-256 begins with {begins}."


def other_weights(screen: Screen, names: Sequence[str]) -> str | None:
    """Say why the numbers may not be the figure's; None where they are, or there is no figure."""
    checkpoint = screen.checkpoint
    if screen.made_with is None or checkpoint is None or checkpoint not in names:
        return None
    fingerprint = known_fingerprint(checkpoint)
    if fingerprint.startswith(screen.made_with):
        return None
    name, here = title(checkpoint), fingerprint[:DIGITS] or "unknown"
    return (
        f"This figure was made with another {name}: its SHA-256 begins with "
        f"{clean(screen.made_with)}, that of the {name} here with {here}. Numbers may differ."
    )
