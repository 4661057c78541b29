"""Fingerprints of checkpoints: a link finds the same weights where their path is another."""

import re
import time
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from threading import Thread

from transformer.checkpoint import CheckpointError, shipped_path
from transformer.fingerprint import fingerprint
from transformer.refusal import Refusal
from transformer.versions import version_of
from viz.state.checkpoints import checkpoint_names, open_linked, opened_before
from viz.state.mending import mend
from viz.state.state import session

DIGITS = 16
"""The digits of a fingerprint in an address."""
PATIENCE, LONGEST = 0.2, 2.0
"""Seconds that a page waits for the fingerprint of what it shows, and of all that a link may mean:
large files are read beside, and named by a later run."""
_BEGINS = re.compile(r"[0-9a-f]{8,64}")


def known_fingerprint(checkpoint: str) -> str:
    """Return a checkpoint's fingerprint; empty where it has no files that can be read."""
    return _fingerprint(checkpoint).result()


def _fingerprint(checkpoint: str) -> "Future[str]":
    path = shipped_path(checkpoint)
    return _begun(path, version_of(path))


@lru_cache(maxsize=64)
def _begun(path: Path, version: int) -> "Future[str]":
    made: Future[str] = Future()
    Thread(target=_read, args=(path, made), name="fingerprint", daemon=True).start()
    return made


def _read(path: Path, made: "Future[str]") -> None:
    try:
        made.set_result(fingerprint(path))
    except Refusal:
        made.set_result("")
    except Exception as error:
        made.set_exception(error)


def _within(seconds: float, checkpoint: str) -> str:
    """The fingerprint where it is known so soon, else empty."""
    try:
        return _fingerprint(checkpoint).result(max(0.0, seconds))
    except (TimeoutError, OSError):
        return ""


def name_weights() -> None:
    """Let the address of a checkpoint that was opened by its path name its weights, too: the path
    is that of this machine alone.
    """
    screen = session().screen
    name = screen.checkpoint
    if name is None or not Path(name).is_absolute():
        mend(replace(screen, weights=None))
    elif begins := _within(PATIENCE, name)[:DIGITS]:
        mend(replace(screen, weights=begins))


def others_here(checkpoint: str, begins: str | None) -> str:
    """Return the start of a checkpoint's fingerprint where a link to it names another.

    begins: the start that the link names. Empty where it is that, or not known so soon.
    """
    here = "" if begins is None else _within(LONGEST, checkpoint)
    return "" if begins is None or here.startswith(begins) else here[:DIGITS]


def same_weights(*named: str | None) -> str | None:
    """Return which checkpoint that is known here has these weights, by name; it is on offer then.

    named: starts of fingerprints, the best first. None where no checkpoint has them, as far as is
    known so soon.
    """
    wanted = [each for each in named if each is not None and _BEGINS.fullmatch(each)]
    if not wanted:
        return None
    names = list(dict.fromkeys((*checkpoint_names(), *opened_before())))
    for name in names:
        _fingerprint(name)  # all are read beside each other
    until = time.monotonic() + LONGEST
    theirs = {name: _within(until - time.monotonic(), name) for name in names}
    matches = (n for begins in wanted for n in names if theirs[n].startswith(begins))
    with suppress(CheckpointError):  # it may be gone by now
        return open_linked(next(matches, None))
    return None
