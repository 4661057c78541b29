"""What lives as long as the process is no garbage, and need not be looked through for any."""

import gc
import sys

_n_modules = 0


def freeze_modules() -> None:
    """Keep the garbage collector from walking what was imported since the last call.

    Streamlit collects garbage after every run, and the last elements wait for it.
    """
    global _n_modules
    if len(sys.modules) == _n_modules:
        return
    _n_modules = len(sys.modules)
    gc.collect()
    gc.freeze()
