"""Everything that people see: views, browser components, export and the Streamlit interface.

In a notebook:

>>> from viz import head_view
>>> head_view.__name__
'head_view'
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from viz.notebook import (
        AliveError,
        FigureError,
        Picture,
        Track,
        cell_steps,
        decode_player,
        figure,
        head_grid,
        head_map,
        head_view,
        heads_table,
        panels,
        search_tree,
        track,
        word_card,
    )
    from viz.server.exploring import explore

__all__ = [
    "AliveError",
    "FigureError",
    "Picture",
    "Track",
    "cell_steps",
    "decode_player",
    "explore",
    "figure",
    "head_grid",
    "head_map",
    "head_view",
    "heads_table",
    "panels",
    "search_tree",
    "track",
    "word_card",
]


def __dir__() -> list[str]:
    """Every name, so that it is completed before it is imported."""
    return sorted({*globals(), *__all__})


if not TYPE_CHECKING:  # which would take any name for one of ours

    def __getattr__(name: str) -> Any:
        """Import what a notebook asks for; only then, as the app's own modules need none of it."""
        if name not in __all__:
            raise AttributeError(f"module 'viz' has no attribute {name!r}")
        if name == "explore":
            return import_module("viz.server.exploring").explore
        return getattr(import_module("viz.notebook"), name)
