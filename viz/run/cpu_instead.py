"""A device that fails: its memory is freed, and the CPU does the work if it may.

Whatever fails in the app comes here, wherever it was: a load, a run, a preview, a picture.
"""

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from logging import getLogger
from threading import Lock
from typing import TypeVar

from transformer.device import (
    DeviceError,
    LostDevice,
    OutOfMemory,
    choose_device,
    device_error,
    free,
)
from viz.run.cache import CACHE
from viz.run.settings import uses_cpu_instead

T = TypeVar("T")
MOST = 1000
"""Texts that are remembered to need the CPU; those that failed first are tried again."""
LATER = "The CPU computed this instead, more slowly."
_LOG = getLogger(__name__)


@dataclass
class Failures:
    """The failures of the device: texts that it could not do, or its loss."""

    texts: OrderedDict[tuple[str, str], str] = field(default_factory=OrderedDict)
    """(checkpoint, text) -> why."""
    lost: str | None = None
    lock: Lock = field(default_factory=Lock)


FAILURES = Failures()


def device_for(checkpoint: str, text: str) -> str | None:
    """Return the device for `load_checkpoint`; None: it chooses."""
    return None if why_on_cpu(checkpoint, text) is None else "cpu"


def why_on_cpu(checkpoint: str, text: str) -> str | None:
    """Say why the CPU computed this, in a sentence; None where nothing failed."""
    why = FAILURES.lost or FAILURES.texts.get((checkpoint, text))
    return None if why is None else f"{why} {LATER}"


def relieved(error: Exception) -> DeviceError | None:
    """Name a failure of the device, and free its memory; None: it is none."""
    failure = device_error(error)
    if failure is not None:
        if isinstance(failure, (OutOfMemory, LostDevice)):
            CACHE.clear()  # what is kept lies on that device, too
        free(error)
        _LOG.warning("%s", failure)
    return failure


def may_repeat(error: Exception, text: str, *checkpoints: str | None) -> bool:
    """Tell whether to run it once more: the device failed, and from now on the CPU does this."""
    failure = relieved(error)
    names = [name for name in checkpoints if name is not None]
    if failure is None or not uses_cpu_instead() or choose_device().type == "cpu":
        return False
    with FAILURES.lock:
        if FAILURES.lost or all((name, text) in FAILURES.texts for name in names):
            return False
        if isinstance(failure, LostDevice):
            FAILURES.lost = str(failure)
        FAILURES.texts.update(dict.fromkeys([(name, text) for name in names], str(failure)))
        while len(FAILURES.texts) > MOST:
            FAILURES.texts.popitem(last=False)
    return True


def repeated(checkpoint: str, text: str, run: Callable[[], T]) -> T:
    """Return its result; where the device fails and the settings allow it, that of the CPU.

    Raises as it does, and DeviceError.
    """
    try:
        return run()
    except Exception as error:
        if not may_repeat(error, text, checkpoint):
            raise
    return run()
