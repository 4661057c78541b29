"""Packages of the extra `app`, imported when something of them is first used.

A page's module draws it and declares its exhibits; a shell makes figures of these, a notebook shows
pictures, and neither has need of what draws pages.
"""

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

from transformer.extras import require

__all__ = ["DeltaGenerator", "draws_pages", "go", "load_all", "pd", "segno", "st"]


class Later:
    """A module under its usual name. Raises NotInstalled where it is used and is not here."""

    def __init__(self, module: str, *before: str) -> None:
        self._module, self._before = module, before
        self._imported: Any = None

    def __getattr__(self, name: str) -> Any:
        if self._imported is not None and sys.modules.get(self._module) is self._imported:
            return getattr(self._imported, name)
        if sys.modules.get(self._module) is None:
            require("app")
        for each in self._before:
            import_module(each)
        self._imported = import_module(self._module)
        return getattr(self._imported, name)


if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go
    import segno
    import streamlit as st
    from streamlit.delta_generator import DeltaGenerator
else:
    DeltaGenerator = Any
    # Plotly takes pandas as it finds it, while another thread is still importing it, too.
    pd, go = Later("pandas"), Later("plotly.graph_objects", "pandas")
    segno, st = Later("segno"), Later("streamlit")


def load_all() -> None:
    """Import them all now, so that nobody who looks at a page waits for them."""
    for name in ("pandas", "plotly.graph_objects", "segno", "streamlit"):
        import_module(name)


def draws_pages() -> bool:
    """Tell whether this process has begun to draw pages: no shell and no notebook does."""
    return sys.modules.get("streamlit") is not None
