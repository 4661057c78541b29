"""Fingerprints of checkpoints: a link finds the same weights where their path is another."""

import re
import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from threading import Thread
from typing import Any, TypeVar

from transformer.checkpoint import CheckpointError, shipped_path
from transformer.fingerprint import DIGITS, fingerprint, is_earlier, version_of
from transformer.refusal import Refusal
from viz.page_fields import CompareFields
from viz.run.cache import keep
from viz.run.request import about
from viz.screen import Screen, put
from viz.state.checkpoints import checkpoint_names, is_here, opened_before, own_default
from viz.state.state import mend, session

T = TypeVar("T")
PATIENCE, LONGEST = 0.2, 2.0
"""Seconds that a page waits for the fingerprint of what it shows, and of all that a link may mean:
large files are read beside, and named by a later run."""
_BEGINS = re.compile(r"[0-9a-f]{8,64}")


def known_fingerprint(checkpoint: str) -> str:
    """Return a checkpoint's fingerprint; empty where it has no files that can be read."""
    return _fingerprint(checkpoint).result()


def has_mark(checkpoint: str, begins: str) -> bool:
    """Tell whether a checkpoint's fingerprint begins so, or one that its weights had earlier."""
    return known_fingerprint(checkpoint).startswith(begins) or _had(checkpoint, begins)


def beside(read: Callable[[Path], T | None], checkpoint: str, version: int) -> T | None:
    """Return what is kept beside a checkpoint's files of this version, as `read` reads it."""
    result: T | None = _beside(read, checkpoint, version)
    return result


@keep(32)
def _beside(read: Callable[[Path], Any], checkpoint: str, version: int) -> Any:
    try:
        return read(shipped_path(checkpoint))
    except CheckpointError:  # a damaged file beside the weights takes nothing from a page
        return None


def _had(checkpoint: str, begins: str) -> bool:
    """Tell whether its weights had such a fingerprint under other words."""
    description = about(checkpoint)
    return description is not None and is_earlier(description.about, begins)


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
    """Let the address of checkpoints that were opened by their paths name their weights, too: a
    path is that of this machine alone, and what the app was started with is first here alone.
    """
    screen = session().screen
    own = screen.of(CompareFields)
    first = screen.checkpoint or own_default()
    screen = replace(screen, checkpoint=first, weights=_begins_of(first, screen.weights))
    mend(put(screen, weights_b=_begins_of(own.checkpoint_b, own.weights_b)))


def _begins_of(name: str | None, before: str | None) -> str | None:
    if name is None or not Path(name).is_absolute():
        return None
    return _within(PATIENCE, name)[:DIGITS] or before


def unnamed(screen: Screen) -> Screen:
    """The same screen without the weights of its checkpoints, which an address is given later."""
    return put(replace(screen, weights=None), weights_b=None)


def meant(screen: Screen, seconds: float = LONGEST) -> Screen:
    """The screen with the checkpoints that its address means: those of the weights it names, where
    what lies at their paths is others, or nothing.

    seconds: how long fingerprints are waited for.
    """
    own = screen.of(CompareFields)
    first = meant_by(screen.checkpoint, screen.weights, screen.made_with, seconds=seconds)
    second = meant_by(own.checkpoint_b, own.weights_b, seconds=seconds)
    screen = screen if first == screen.checkpoint else replace(screen, checkpoint=first)
    return screen if second == own.checkpoint_b else put(screen, checkpoint_b=second)


def meant_by(name: str | None, *named: str | None, seconds: float = LONGEST) -> str | None:
    """Return the checkpoint that is meant by a name or path and by starts of its fingerprint, the
    best first: the name itself where no other has these weights, as far as is known so soon.
    """
    begins = next(filter(None, named), None)
    if name is None or begins is None:
        return name
    if is_here(name, checkpoint_names()) and not others_here(name, begins, seconds):
        return name
    return _same_weights(seconds, *named) or name


def others_here(checkpoint: str, begins: str | None, seconds: float = LONGEST) -> str:
    """Return the start of a checkpoint's fingerprint where a link to it names another.

    begins: the start that the link names. Empty where it is that, or not known so soon.
    """
    if begins is None or _had(checkpoint, begins):
        return ""
    here = _within(seconds, checkpoint)
    return "" if here.startswith(begins) else here[:DIGITS]


def _same_weights(seconds: float, *named: str | None) -> str | None:
    """Return which checkpoint that is known here has these weights, by name or path; None: none."""
    wanted = [each for each in named if each is not None and _BEGINS.fullmatch(each)]
    if not wanted:
        return None
    names = list(dict.fromkeys((*checkpoint_names(), *opened_before())))
    for name in names:
        _fingerprint(name)  # all are read beside each other
    until = time.monotonic() + seconds
    theirs = {name: _within(until - time.monotonic(), name) for name in names}
    same = ((n, theirs[n].startswith(it) or _had(n, it)) for it in wanted for n in names)
    return next((name for name, is_it in same if is_it), None)
