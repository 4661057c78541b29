"""The large picture of one head: as arrows, as a heat map, or one of its cells from inside."""

from dataclasses import replace

import streamlit as st

from transformer.analysis.reading import Reading, read
from transformer.analysis.strongest import strongest_weight
from viz.components.cell_steps.cell_steps import CellSteps, cell_steps
from viz.components.head_map.head_map import HeadMap, head_map
from viz.components.head_view.head_view import HeadView, HeadViewState, head_view
from viz.components.kit.picture import NothingLeft
from viz.ui.address import keep, kept
from viz.ui.cells import chosen_cell, keep_cell, numbers, place
from viz.ui.current import current, current_theme
from viz.ui.drafts import preview
from viz.ui.payloads import payload_of
from viz.views.view import Selection

ARROWS, HEATMAP, INSIDE = PICTURES = ("Arrows", "Heatmap", "Inside")
NOTHING = "none"
"""In the address: no head is shown at all."""

PLAIN = (
    "Inside are always the plain weights of one query piece and one key piece: "
    "lens, words and special tokens as chosen under *Reading* play no part here."
)


def choose_picture(names: tuple[str, ...] = PICTURES) -> str:
    """Which picture of the chosen head is drawn."""
    chosen = st.segmented_control(
        "Picture",
        names,
        default=names[0],
        key="picture",
        bind="query-params",
        required=True,
        label_visibility="collapsed",
    )
    return str(chosen)


def choose_path() -> None:
    """Whether the heat map joins the largest weights of its rows."""
    st.toggle("Path", key="path", bind="query-params")


def picture(name: str, selection: Selection, reading: Reading, suffix: str = "") -> None:
    """Draw it. suffix: tells a second picture of the page from the first."""
    draw = {ARROWS: _arrows, HEATMAP: _heatmap, INSIDE: _inside}[name]
    try:
        draw(selection, reading, suffix)
    except NothingLeft as reason:
        st.info(str(reason), icon=":material/info:")


def _arrows(selection: Selection, reading: Reading, suffix: str) -> None:
    answer, theme = current(suffix), current_theme()
    request = answer.request
    layer_heads = (request, selection)
    # Both pictures of a page follow the same pins: "from this word, in both heads". Another lens
    # or other names of the rows leave every token in its place.
    pinned = (request, selection.kind, reading.words, reading.special)
    n_heads = selection.attention(answer.recording).n_heads

    def legal(heads: str) -> str:
        there = [head for head in numbers(heads) if head < n_heads]
        return NOTHING if heads == NOTHING else ",".join(map(str, there))

    heads = kept(f"heads{suffix}", layer_heads, legal=legal)

    def changed(state: HeadViewState) -> None:
        shown = ",".join(map(str, state.heads)) or NOTHING
        keep(f"heads{suffix}", layer_heads, "" if shown == str(selection.head) else shown)
        keep("pins", pinned, ",".join(state.pins))

    view = HeadView(selection.kind, selection.layer, reading)
    data = view.data(
        payload_of(answer, view),
        theme,
        head=selection.head,
        heads=numbers(heads) if heads else None,
        pins=tuple(filter(None, kept("pins", pinned).split(","))),
    )
    head_view(data, f"arrows{suffix}", on_change=changed)
    preview(view, head=selection.head)


def _heatmap(selection: Selection, reading: Reading, suffix: str) -> None:
    answer, theme = current(suffix), current_theme()
    map = read(answer.recording, selection.kind, reading)
    about = (answer.request, selection, reading)
    chosen = chosen_cell(selection, suffix)

    def open_cell(row: int, column: int) -> None:
        head = (map.attention, selection.layer, selection.head)
        cell = strongest_weight(*head, map.row_groups[row], map.column_groups[column])
        keep_cell(selection, *cell, suffix)
        if not suffix:
            st.session_state["picture"] = INSIDE

    def zoom(*region: int) -> None:
        st.session_state[f"region{suffix}"] = (about, region)

    asked, region = st.session_state.get(f"region{suffix}", (None, None))
    large = HeadMap(selection, reading, region if asked == about else None)
    state = {"path": bool(st.session_state.get("path")), "asks": True}
    cell = chosen and place(map, *chosen)
    data = large.data(payload_of(answer, large), theme, cell=cell, **state)
    head_map(data, f"map{suffix}", on_cell=open_cell, on_region=zoom)
    preview(HeadMap(selection, reading), **state)


def _inside(selection: Selection, reading: Reading, suffix: str) -> None:
    answer, theme = current(suffix), current_theme()
    if replace(reading, rows="produced") != Reading():
        st.caption(PLAIN)
    cell = CellSteps(selection, chosen_cell(selection, suffix), reading.rows)
    cell_steps(
        cell.data(payload_of(answer, cell), theme),
        f"inside{suffix}",
        on_cell=lambda query, key: keep_cell(selection, query, key, suffix),
    )
    preview(CellSteps(selection, None, reading.rows))
