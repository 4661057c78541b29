"""Garbage: nothing that lives as long as the process needs to be looked through for any.

And what is garbage goes back to the system: the allocator of Linux (glibc) keeps what was freed in
pieces, which after long texts is some hundred MiB.
"""

import asyncio
import ctypes
import gc
import sys
from collections.abc import Callable

EVERY = 10.0
"""Seconds between two looks for garbage."""
_n_modules = 0


def freeze_modules() -> None:
    """Keep the garbage collector from walking what was imported since the last call."""
    global _n_modules
    if len(sys.modules) == _n_modules:
        return
    _n_modules = len(sys.modules)
    gc.collect()
    gc.freeze()


async def collect_garbage() -> None:
    """Look for garbage again and again, until it is cancelled.

    Streamlit does after every run where it is not told otherwise, and everybody's run stands still
    meanwhile: with 20 sessions, for a third of the time in which any had the interpreter's lock.
    """
    while True:
        await asyncio.sleep(EVERY)
        gc.collect()
        await asyncio.to_thread(give_back)


def collect() -> None:
    """Look for garbage once, and give back what was freed."""
    gc.collect()
    give_back()


def give_back() -> None:
    """Let the allocator give back what is free, where it is one that keeps it."""
    if _trim is not None:
        _trim(0)


def _find_trim() -> Callable[[int], object] | None:
    try:
        trim: Callable[[int], object] = ctypes.CDLL(None).malloc_trim
    except (OSError, AttributeError, TypeError):
        return None
    return trim


_trim = _find_trim()
