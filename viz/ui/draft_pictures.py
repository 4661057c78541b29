"""What Explore's components show of another text: for each the bytes that it is given.

What belongs to a text alone, as chosen cells or pinned tokens, is not there yet.
"""

from typing import Any

from transformer import InputError
from transformer.analysis.reading import Reading
from viz.components.cell_steps.cell_steps import cell_steps_data
from viz.components.head_grid.head_grid import head_grid_data
from viz.components.head_map.head_map import head_map_data
from viz.components.head_view.head_view import head_view_data
from viz.components.token_rows.token_rows import token_rows_data
from viz.theme import Theme
from viz.ui.cells import strongest
from viz.ui.drafts import Make
from viz.ui.payloads import arrows_payload, attention_map, cell_payload, grid_payload, map_payload
from viz.ui.request import Request, answer
from viz.views.view import Selection


def tokens_of(theme: Theme, titles: tuple[str, str], drafts: str) -> Make:
    """The token rows."""

    def make(request: Request) -> bytes:
        recording = answer(request).recording
        return token_rows_data(recording.source, recording.target, theme, titles, drafts)

    return make


def grid_of(selection: Selection, reading: Reading, theme: Theme, view: dict[str, Any]) -> Make:
    """The grid of all heads. view: show, sort and top, as `head_grid` has them."""

    def make(request: Request) -> bytes:
        payload = grid_payload(request, selection.kind, reading)
        return head_grid_data(payload, theme, (selection.layer, selection.head), **view)

    return make


def arrows_of(selection: Selection, reading: Reading, theme: Theme) -> Make:
    """The head view, with the chosen head alone."""

    def make(request: Request) -> bytes:
        _refuse_empty(request, selection, reading)
        payload = arrows_payload(request, selection.kind, selection.layer, reading)
        return head_view_data(payload, theme, selection.head, (selection.head,))

    return make


def map_of(selection: Selection, reading: Reading, theme: Theme, path: bool) -> Make:
    """The heat map."""

    def make(request: Request) -> bytes:
        _refuse_empty(request, selection, reading)
        payload = map_payload(request, selection, reading, None)
        return head_map_data(payload, theme, None, path, asks=True)

    return make


def inside_of(selection: Selection, reading: Reading, theme: Theme) -> Make:
    """The strongest cell from inside."""

    def make(request: Request) -> bytes:
        cell = strongest(answer(request).recording, selection)
        return cell_steps_data(cell_payload(request, selection, *cell, reading.rows), theme)

    return make


def _refuse_empty(request: Request, selection: Selection, reading: Reading) -> None:
    map = attention_map(request, selection.kind, reading)
    if not (map.rows and map.columns):
        raise InputError("Without special tokens nothing is left to draw.")
