"""Whatever a page shows: a frozen value that painters make for a screen, for paper, or as text."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from plotly.graph_objects import Figure

from viz.exhibits.chart import Chart
from viz.exhibits.table import Table, Tables
from viz.theme import Theme

About = Literal["text", "checkpoint", "app"]


@dataclass(frozen=True, eq=False)
class PictureAt:
    """A picture of our browser components, with the state that it is in."""

    picture: Any
    """A `Picture` of an answer, or a `SnapshotPlayer`, which is one of a training."""
    state: Mapping[str, Any] = field(default_factory=dict)
    """Named arguments of the picture's `data` and `says`."""
    payload: Callable[[], bytes] | None = None
    """The packed numbers, where they are of more than an answer; None: the picture packs them."""


@dataclass(frozen=True, eq=False)
class PlotlyFigure:
    """A chart as Plotly draws it, in the colours of a theme."""

    make: Callable[[Theme], Figure]


Content = PictureAt | Chart | PlotlyFigure | Table | Tables


@dataclass(frozen=True, eq=False)
class Exhibit:
    """One thing that a page shows. Pages declare theirs by name, the main one first."""

    title: str
    content: Content
    says: str = ""
    """The alternative text: a sentence; empty where a picture of an answer says it itself."""
    about: About = "text"
    """"text": what the model made of the text; "checkpoint": only the checkpoint's own files or
    training; "app": neither."""
    is_main: bool = True
    """Whether it stands where everybody looks; others are below, and no scene of a story."""
    can_be_made_again: bool = True
    """Whether its address is enough to make it again; a button or a clock made others."""
    small: Content | None = None
    """The same where the screen has less room for it than paper."""
    pane: Any = None
    """The pane that it is of, where that is another one than the page's."""
