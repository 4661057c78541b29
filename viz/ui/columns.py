"""Columns that know how wide they are: on a wall a chart is an image, drawn for its place."""

from collections.abc import Sequence
from contextvars import ContextVar, Token
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from viz.notebook.printed import GAP

_share: ContextVar[float] = ContextVar("share", default=1.0)


class Column:
    """A column to draw in, by `with`."""

    def __init__(self, place: DeltaGenerator, part: float) -> None:
        self.place, self.part = place, part
        self._before: list[Token[float]] = []

    def __enter__(self) -> None:
        self._before.append(_share.set(self.part * _share.get()))
        self.place.__enter__()

    def __exit__(self, *raised: Any) -> None:
        _share.reset(self._before.pop())
        self.place.__exit__(*raised)


def columns(widths: int | Sequence[float], **look: Any) -> list[Column]:
    """Those of Streamlit, for charts beside each other."""
    parts = [1.0] * widths if isinstance(widths, int) else widths
    room = 1 - GAP * (len(parts) - 1)
    places = st.columns(list(parts), **look)
    return [
        Column(place, room * part / sum(parts)) for place, part in zip(places, parts, strict=True)
    ]


def share_here() -> float:
    """How much of the page's width there is, where something is drawn now."""
    return _share.get()
