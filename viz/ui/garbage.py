"""What lives as long as the process is no garbage, and need not be looked through for any."""

import asyncio
import gc
import sys

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
