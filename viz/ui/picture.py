"""The large picture of one head: as arrows, as a heat map, or one of its cells from inside."""

from dataclasses import replace

import streamlit as st

from transformer.analysis.reading import Reading
from viz.components.cell_steps.cell_steps import cell_steps
from viz.components.head_map.head_map import head_map
from viz.components.head_view.head_view import HeadViewState, head_view
from viz.ui.address import keep, kept
from viz.ui.cells import chosen_cell, keep_cell, numbers, place, strongest
from viz.ui.current import current, current_theme
from viz.ui.payloads import arrows_payload, attention_map, cell_payload, map_payload
from viz.views.view import Selection

ARROWS, HEATMAP, INSIDE = PICTURES = ("Arrows", "Heatmap", "Inside")
NOTHING = "none"
"""In the address: no head is shown at all."""

PLAIN = (
    "Inside are always the plain weights of one query piece and one key piece: "
    "lens, words and special tokens as chosen under *Reading* play no part here."
)

NOTHING_LEFT = "Nothing is left to draw: without special tokens there is no row or no column."


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
    map = attention_map(current(suffix).request, selection.kind, reading)
    if name != INSIDE and not (map.rows and map.columns):
        st.info(NOTHING_LEFT, icon=":material/info:")
        return
    {ARROWS: _arrows, HEATMAP: _heatmap, INSIDE: _inside}[name](selection, reading, suffix)


def _arrows(selection: Selection, reading: Reading, suffix: str) -> None:
    request = current(suffix).request
    layer_heads = (request, selection)
    # Both pictures of a page follow the same pins: "from this word, in both heads". Another lens
    # or other names of the rows leave every token in its place.
    pinned = (request, selection.kind, reading.words, reading.special)
    n_heads = selection.attention(current(suffix).recording).n_heads

    def legal(heads: str) -> str:
        there = [head for head in numbers(heads) if head < n_heads]
        return NOTHING if heads == NOTHING else ",".join(map(str, there))

    heads = kept(f"heads{suffix}", layer_heads, legal=legal)

    def changed(state: HeadViewState) -> None:
        shown = ",".join(map(str, state.heads)) or NOTHING
        keep(f"heads{suffix}", layer_heads, "" if shown == str(selection.head) else shown)
        keep("pins", pinned, ",".join(state.pins))

    head_view(
        arrows_payload(request, selection.kind, selection.layer, reading),
        current_theme(),
        f"arrows{suffix}",
        head=selection.head,
        heads=numbers(heads) if heads else (selection.head,),
        pins=tuple(filter(None, kept("pins", pinned).split(","))),
        on_change=changed,
    )


def _heatmap(selection: Selection, reading: Reading, suffix: str) -> None:
    request = current(suffix).request
    map = attention_map(request, selection.kind, reading)
    about = (request, selection, reading)
    chosen = chosen_cell(selection, suffix)

    def open_cell(row: int, column: int) -> None:
        keep_cell(
            selection,
            *strongest(map.recording, selection, map.row_groups[row], map.column_groups[column]),
            suffix,
        )
        if not suffix:
            st.session_state["picture"] = INSIDE

    def zoom(*region: int) -> None:
        st.session_state[f"region{suffix}"] = (about, region)

    asked, region = st.session_state.get(f"region{suffix}", (None, None))
    head_map(
        map_payload(request, selection, reading, region if asked == about else None),
        current_theme(),
        f"map{suffix}",
        cell=chosen and place(map, *chosen),
        path=bool(st.session_state.get("path")),
        on_cell=open_cell,
        on_region=zoom,
    )


def _inside(selection: Selection, reading: Reading, suffix: str) -> None:
    request = current(suffix).request
    recording = current(suffix).recording
    query, key = chosen_cell(selection, suffix) or strongest(recording, selection)
    if replace(reading, rows="produced") != Reading():
        st.caption(PLAIN)
    cell_steps(
        cell_payload(request, selection, query, key, reading.rows),
        current_theme(),
        f"inside{suffix}",
        on_cell=lambda query, key: keep_cell(selection, query, key, suffix),
    )
