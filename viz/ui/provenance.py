"""The checkpoint that a figure was made with, by its address; a warning where it is another."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from transformer.files.foreign_text import clean
from viz.fields.compare import CompareFields
from viz.screen import Screen
from viz.state.checkpoints import title
from viz.state.fingerprints import DIGITS, has_mark, known_fingerprint, others_here
from viz.state.opening import can_open
from viz.state.state import session


def made_with(screen: Screen) -> Screen:
    """The screen, which is no figure's where the checkpoint that it names is not here."""
    return screen if screen.checkpoint is not None else replace(screen, made_with=None)


def of_figure(screen: Screen) -> str:
    """Name the checkpoint that the figure of an address was made with."""
    name = clean(Path(screen.checkpoint or "").name or "a checkpoint without a name")
    begins = clean(screen.made_with or "")
    return f"The figure was made with {name}, whose SHA-256 begins with {begins}."


def other_path(screen: Screen) -> str:
    """Say what opens a link to weights that are nowhere here; empty where it names none."""
    if screen.weights is None:
        return ""
    begins = clean(screen.weights)
    own = "open yours in the sidebar (»), then this link again"
    way = own if can_open() else "whoever runs this server may add it, or open it at home"
    return (
        f" None of the checkpoints here has its weights, whose SHA-256 begins with {begins}: {way}."
    )


def other_weights(screen: Screen, names: Sequence[str]) -> str | None:
    """Say why the numbers may not be those of the figure or the link; None where they are."""
    checkpoint = screen.checkpoint
    if checkpoint is None or checkpoint not in names:
        return None
    if screen.made_with is None:
        return _others_than_linked(screen)
    if has_mark(checkpoint, screen.made_with):
        return None
    name, here = title(checkpoint), known_fingerprint(checkpoint)[:DIGITS] or "unknown"
    return (
        f"This figure was made with another {name}: its SHA-256 begins with "
        f"{clean(screen.made_with)}, that of the {name} here with {here}. Numbers may differ."
    )


def _others_than_linked(screen: Screen) -> str | None:
    """Say so where the address that was opened names other weights of a checkpoint.

    The Screen's own are those of what is shown: a link that is copied now leads to these.
    """
    link = session().arrival
    if link is None:
        return None
    own, linked = (_named(each) for each in (screen, link))
    for (checkpoint, _), (name, begins) in zip(own, linked, strict=True):
        if checkpoint is None or name != checkpoint or begins is None:
            continue
        if here := others_here(checkpoint, begins):
            known_as = title(checkpoint)
            return (
                f"This link was made with another {known_as}: its SHA-256 begins with "
                f"{clean(begins)}, that of the {known_as} here with {here}. Numbers may differ."
            )
    return None


def _named(screen: Screen) -> tuple[tuple[str | None, str | None], ...]:
    """The checkpoints and the starts of their fingerprints."""
    own = screen.of(CompareFields)
    return (screen.checkpoint, screen.weights), (own.checkpoint_b, own.weights_b)
