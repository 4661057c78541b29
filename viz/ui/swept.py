"""Sweeps of what is on screen, made once for all sessions."""

from transformer.analysis.sweep import Sweep, sweep
from viz.ui.kept import KEPT, bytes_of
from viz.ui.request import Answer


def swept(shown: Answer) -> Sweep:
    """Every head off, one by one, on the words that the model wrote. Raises Refusal."""
    recording, request = shown.recording, shown.request
    return KEPT.get(
        ("sweep", request),
        lambda: sweep(shown.checkpoint, request.text, recording.target),
        lambda made: bytes_of(made),
    )
