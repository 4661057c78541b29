"""The differences between a page and a wall: columns know how wide they are, for charts that are
drawn for their place; words and exhibits, whether they stand there at all.
"""

from collections.abc import Callable, Sequence
from contextvars import ContextVar, Token
from dataclasses import replace
from typing import Any

from transformer.extras import missing
from viz.app_packages import DeltaGenerator, st
from viz.exhibits.exhibit import Exhibit
from viz.exhibits.table import Table, Tables
from viz.notebook.chart_image import GAP
from viz.run.growth import Growth
from viz.state.page import Pane
from viz.talks.stage import on_wall

MOST_ROWS = 13
"""The rows of a table that a wall has room for."""
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


def columns(
    widths: int | Sequence[float],
    n_offers: int = 0,
    wall: Sequence[float] | None = None,
    **look: Any,
) -> list[Column]:
    """Make columns as Streamlit does, for charts beside each other.

    n_offers: of further ones for what can be done: nobody does it on a wall. wall: widths there.
    """
    if wall is not None and on_wall():
        widths = wall
    if n_offers and not on_wall():
        widths = widths + n_offers if isinstance(widths, int) else [*widths, *[1.0] * n_offers]
    parts = [1.0] * widths if isinstance(widths, int) else widths
    room = 1 - GAP * (len(parts) - 1)
    places = st.columns(list(parts), **look)
    return [
        Column(place, room * part / sum(parts)) for place, part in zip(places, parts, strict=True)
    ]


def share_here() -> float:
    """Return the share of the page's width where something is drawn now."""
    return _share.get()


def is_printed() -> bool:
    """Tell whether charts are images here, without Plotly's code."""
    return on_wall() and not missing("paper")


def is_here(exhibit: Exhibit | Growth[Any]) -> bool:
    """Tell whether it stands here: on a wall, where nobody scrolls, only what is main."""
    return exhibit.is_main or not on_wall()


def below(draw: Callable[[Pane], None], pane: Pane) -> None:
    """Draw what stands below the main exhibits: not on a wall."""
    if not on_wall():
        draw(pane)


def explain(words: str, *others: str) -> None:
    """Draw Markdown that a scene of a talk has words of its own for, and other that stands there,
    too.
    """
    words_here = others if on_wall() else (words, *others)
    if words_here:
        st.markdown(" ".join(words_here))


def fitting(content: Table | Tables) -> Table | Tables:
    """On a wall as many rows of a table as it has room for, and below it how many these are."""
    if not (isinstance(content, Table) and content.kind == "rows" and on_wall()):
        return content
    if len(content.rows) <= MOST_ROWS:
        return content
    few = f"The first {MOST_ROWS} of {len(content.rows)} rows."
    return replace(content, rows=content.rows[:MOST_ROWS], foot=f"{few} {content.foot}".rstrip())
