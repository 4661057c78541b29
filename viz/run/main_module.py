"""The `__main__` of a process in which the app is a guest: a notebook, or somebody's script.

Streamlit puts each run of its script in that place; what a notebook defines could then no longer
be found by its name, as pickling it asks.
"""

import sys
from types import ModuleType

_modules: list[ModuleType] = []


def keep_main_module() -> None:
    """Remember the one that there is."""
    _modules[:] = [sys.modules["__main__"]]


def put_back_main_module() -> None:
    """Put it back, where one was kept."""
    if _modules:
        sys.modules["__main__"] = _modules[0]
