"""What can be taken away from a picture: files, made when they are asked for."""

from collections.abc import Callable

import streamlit as st

from viz.export import attention_csv, figure_html, recording_npz
from viz.ui.current import current, current_theme
from viz.views import head_heatmap
from viz.views.view import Selection


def download(
    title: str, make: Callable[[], bytes], file: str, explain: str, key: str | None = None
) -> None:
    """A quiet button; the file is made when it is asked for."""
    st.download_button(
        title,
        make,
        file,
        key=key or file,
        help=explain,
        on_click="ignore",
        type="tertiary",
        icon=":material/download:",
    )


def save_head(selection: Selection, suffix: str = "") -> None:
    """One head's figure and weights, or everything that was recorded, behind one button."""
    recording = current().recording
    attention = selection.attention(recording)
    place = f"{selection.kind}-L{selection.layer}-H{selection.head}"
    files = st.popover(
        "Save",
        icon=":material/download:",
        help="Save the head or the recording",
        key="files",
        on_change="rerun",
    )
    if not files.open:  # its contents are no burden while nobody looks at them
        return
    with files:
        download(
            "Heat map as HTML",
            lambda: head_figure(selection),
            f"headscope-{place}.html",
            "This head's weights as an interactive page of its own",
        )
        download(
            "Head as CSV",
            lambda: attention_csv(attention, selection.layer, selection.head),
            f"headscope-{place}.csv",
            "This head's weights, a line a cell",
        )
        download(
            "All heads as NPZ",
            lambda: recording_npz(recording),
            "headscope-recording.npz",
            "Every kind, layer and head as NumPy arrays",
        )


def head_figure(selection: Selection) -> bytes:
    """The heat map of one head's weights as a page."""
    figure = head_heatmap.draw(current().recording, current_theme(), selection)
    return figure_html(figure, head_heatmap.VIEW.title)
