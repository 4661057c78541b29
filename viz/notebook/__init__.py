"""Pictures of a recording in a notebook or a script: the app's own, without a server."""

from viz.live.alive.request import AliveError
from viz.notebook.figures import figure, heads_table, word_card
from viz.notebook.panels import panels
from viz.notebook.picture import Picture
from viz.notebook.pictures import (
    cell_steps,
    decode_player,
    head_grid,
    head_map,
    head_view,
    search_tree,
)
from viz.notebook.tracking import Track, track
from viz.paper.record import FigureError

__all__ = [
    "AliveError",
    "FigureError",
    "Picture",
    "Track",
    "cell_steps",
    "decode_player",
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
