"""Files of a picture, made when they are asked for."""

from collections.abc import Callable, Mapping
from dataclasses import replace

from transformer.analysis.selection import Selection
from transformer.analysis.tables.heads_file import alignment_text, metrics_csv
from transformer.extras import NotInstalled, require
from transformer.recording import Recording
from transformer.visible import visible
from viz.app_packages import st
from viz.exhibits.exhibit import Exhibit
from viz.export import attention_csv, recording_npz
from viz.labels import literal
from viz.notebook import head_map
from viz.paper.crate import crate
from viz.paper.figure import COLUMN, PAGE, Figure
from viz.paper.slide import WIDE
from viz.state.page import Pane
from viz.state.state import current_theme
from viz.talks.collecting import add_button
from viz.theme import Theme
from viz.ui.controls import choose_one
from viz.ui.printing import figure_of

AS_TEXT = "Text that begins like a formula, or with an apostrophe, has an apostrophe in front"
"""Said of tables."""


def download(
    title: str, make: Callable[[], bytes], file: str, explain: str, key: str | None = None
) -> None:
    """A quiet button; the file is made when it is asked for.

    make: runs outside of the session, so what it needs is taken from there before.
    """
    st.download_button(
        title,
        make,
        visible(file),  # a name that runs to the left would hide its ending
        key=key or file,
        help=f"{explain}. {AS_TEXT}" if file.endswith(".csv") else explain,
        on_click="ignore",
        type="tertiary",
        icon=":material/download:",
    )


def paper_files(pane: Pane, figures: Mapping[str, Exhibit], key: str = "") -> None:
    """A page's pictures as figures for a paper, in light colours, as wide as one column or two, or
    as slides.
    """
    try:
        require("paper")
    except NotInstalled as error:
        st.caption(literal(f"No figures for a paper: {error}"))
        return
    titles = {
        "one": f"One column, {COLUMN} in",
        "two": f"Two columns, {PAGE} in",
        "slide": f"Slide 16:9, {WIDE:.2f} in",
    }
    widths = {"one": COLUMN, "two": PAGE, "slide": None}
    width = widths[choose_one("Width", "column", titles, pane.screen.column)]
    for name, exhibit in figures.items():
        st.caption(literal(exhibit.title))
        with st.container(horizontal=True, gap="small"):
            _figure_files(pane, exhibit, name, width, key)


def for_a_paper(pane: Pane, figures: Mapping[str, Exhibit], key: str) -> None:
    """The same behind a button of its own."""
    box = st.popover("For a paper", icon=":material/article:", key=key, on_change="rerun")
    if box.open:  # its contents are no burden while nobody looks at them
        with box:
            paper_files(pane, figures, key)


def _figure_files(pane: Pane, exhibit: Exhibit, name: str, width: float | None, key: str) -> None:
    """width: in inches; None: a slide."""

    def figure() -> Figure:
        return replace(figure_of(pane, exhibit, name=name), is_slide=width is None)

    def make(kind: str) -> bytes:
        return figure().file(kind, width)

    where = "a paper" if width else "a slide"
    file, explain = f"headscope-{name}", f"For {where}; it opens the app where it was made"
    key = f"{name} {key}"
    download("Figure as PDF", lambda: make("pdf"), f"{file}.pdf", explain, f"pdf {key}")
    download("Figure as SVG", lambda: make("svg"), f"{file}.svg", explain, f"svg {key}")
    download("Figure as PNG", lambda: make("png"), f"{file}.png", explain, f"png {key}")
    download(
        "Figure as ZIP",
        lambda: crate(figure(), width),
        f"{file}.zip",
        "A crate of the figure, its numbers, and all that makes it again",
        f"zip {key}",
    )


def head_files(pane: Pane, figures: Mapping[str, Exhibit]) -> None:
    """Figures, one head's weights, or everything that was recorded, behind one button."""
    recording, selection, theme = pane.recording, pane.selection, current_theme()
    attention = selection.attention(recording)
    place = f"{selection.kind}-{selection.name(recording).replace(' ', '-')}"
    files = st.popover(
        "Save",
        icon=":material/download:",
        help="Save figures, the head or the recording",
        key="files",
        on_change="rerun",
    )
    if not files.open:  # its contents are no burden while nobody looks at them
        return
    with files:
        add_button("add to story")
        paper_files(pane, figures)
        st.caption("Weights from 0 to 1, whatever *Show as* says")
    with files, st.container(horizontal=True, gap="small"):
        download(
            "Heat map as HTML",
            lambda: head_page(recording, theme, selection),
            f"headscope-{place}.html",
            "This head's weights as a page of its own",
        )
        download(
            "Head as CSV",
            lambda: attention_csv(attention, selection.layer, selection.head),
            f"headscope-{place}.csv",
            "This head's weights, one row per cell",
        )
        download(
            "Metrics of all heads as CSV",
            lambda: metrics_csv(recording),
            "headscope-metrics.csv",
            "Every metric of every kind, layer and head",
        )
        if selection.kind == "cross":
            download(
                "Word alignment as TXT",
                lambda: alignment_text(recording, selection.layer, selection.head),
                f"headscope-{place}-alignment.txt",
                "Which words this head links, as 0-0 1-2",
            )
        download(
            "All heads as NPZ",
            lambda: recording_npz(recording),
            "headscope-recording.npz",
            "Every kind, layer and head as NumPy arrays",
        )


def head_page(recording: Recording, theme: Theme, selection: Selection) -> bytes:
    """The heat map of one head's weights as a page, as a notebook shows it."""
    place = (selection.kind, selection.layer, selection.head)
    return head_map(recording, *place, theme=theme.name).html.encode()
