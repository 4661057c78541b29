"""The one menu of files of a page: what each exhibit can be had as, made when it is asked for."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import urlencode

from transformer.analysis.tables import alignment_text, metrics_csv
from transformer.extras import NotInstalled, require
from transformer.refusal import visible
from viz.app_packages import DeltaGenerator, st
from viz.components.kit.picture import NothingLeft
from viz.exhibits.exhibit import Exhibit
from viz.export import attention_csv, recording_npz
from viz.labels import kind_title, literal
from viz.live.alive.request import AliveError
from viz.paper.crate import crate
from viz.paper.figure import COLUMN, PAGE, Figure
from viz.paper.printed import WIDE
from viz.paper.typefaces import FAMILY, families
from viz.run.settings import is_public, page_address
from viz.screen import spell
from viz.state.page import Page, Pane
from viz.state.state import current_theme, session
from viz.talks.stage import offer_present, on_stage
from viz.talks.story_drafts import add_button
from viz.ui.controls import choose_one
from viz.ui.saving import TYPED_PAGES, figure_of, head_page, typed_page_of

NONE = "This page has no files."
WIDTHS = {"one": COLUMN, "two": PAGE, "slide": None}
"""The widths of figures in inches, by the name of what is chosen; None: a slide."""
LAWS = {"root": "Square root", "linear": "Linear"}
OF_SCALE = "Square root: small weights stay visible. Linear: twice the weight is twice as dark"
PAGE_ROW = "Page"
"""The heading of files of all that a page shows."""
AS_TEXT = "Text that begins like a formula, or with an apostrophe, has an apostrophe in front"
"""Said of tables."""


@dataclass
class Menu:
    """The menu while it is open, for as long as its page is drawn."""

    place: DeltaGenerator
    rows: dict[str, DeltaGenerator] = field(default_factory=dict)
    """The files of each exhibit, by its title."""
    has_papers: bool | None = None
    """False: what makes figures for a paper is not installed; None: nobody asked."""

    def row(self, title: str) -> DeltaGenerator:
        """The place of the files of what has this title."""
        if title not in self.rows:
            with self.place:
                st.markdown(f"**{literal(title)}**")
                self.rows[title] = st.container(horizontal=True, gap="small")
        return self.rows[title]

    def makes_papers(self) -> bool:
        """Let the look of figures be chosen, once; else say why there are none."""
        if self.has_papers is None:
            with self.place:
                self.has_papers = _choose_look()
        return self.has_papers


_menu: ContextVar[Menu | None] = ContextVar("menu", default=None)


@contextmanager
def save_menu(page: Page) -> Iterator[None]:
    """Draw the menu's button. While the menu is open, all that the page offers stands in it."""
    if on_stage():
        yield
        return
    look: Any = {"type": "tertiary", "key": "save", "on_change": "rerun"}
    box = st.popover("Save", icon=":material/download:", **look)
    if not box.open:  # its contents are no burden while nobody looks at them
        yield
        return
    with box:
        with st.container(horizontal=True, vertical_alignment="center"):
            offer_present()
            if page.has_pictures:
                add_button("add to story", None if page.shows == "sentence" else page.title)
        if page_address() and page.name in TYPED_PAGES:
            address = f"{page_address()}?{urlencode(spell(session().screen))}"
            st.caption("The same in a page that needs no server:")
            st.code(address, language=None)
        menu = Menu(st.container(gap="xxsmall", key="saved"))
    token = _menu.set(menu)
    try:
        yield
    finally:
        _menu.reset(token)
    if not menu.rows:
        with box:
            st.caption(NONE)


def is_menu_open() -> bool:
    """Tell whether anything that is offered is seen: else it need not be made."""
    return _menu.get() is not None


def offer_file(
    title: str, make: Callable[[], bytes], file: str, explain: str, of: str, key: str | None = None
) -> None:
    """Offer a file beside the others of the exhibit with the title `of`; others as `download`."""
    if (menu := _menu.get()) is not None:
        with menu.row(of):
            download(title, make, file, explain, key)


def offer_figures(pane: Pane, figures: Mapping[str, Exhibit], key: str = "") -> None:
    """Offer pictures as figures for a paper, in light colours, as wide as one column or two, or as
    slides. key: unique on the page, with their names.
    """
    menu = _menu.get()
    if menu is None:
        return
    if pane.screen.page in TYPED_PAGES and PAGE_ROW not in menu.rows and not is_public():
        with menu.row(PAGE_ROW):
            _typed_file(pane, figures.values())
    if not menu.makes_papers():
        return
    width = WIDTHS[pane.screen.column]
    for name, exhibit in figures.items():
        with menu.row(exhibit.title):
            _figure_files(pane, exhibit, name, width, key)


def offer_head(pane: Pane) -> None:
    """Offer one head's weights, and everything that was recorded."""
    if not is_menu_open():
        return
    recording, selection, theme = pane.recording, pane.selection, current_theme()
    attention = selection.attention(recording)
    place = f"{selection.kind}-{selection.name(recording).replace(' ', '-')}"
    name = f"{kind_title(selection.kind)} {selection.name(recording)}"
    of = f"{name}: weights from 0 to 1, whatever Show as says"
    offer_file(
        "Heat map as HTML",
        lambda: head_page(recording, theme, selection),
        f"headscope-{place}.html",
        "This head's weights as a page of its own",
        of,
    )
    offer_file(
        "Head as CSV",
        lambda: attention_csv(attention, selection.layer, selection.head),
        f"headscope-{place}.csv",
        "This head's weights, one row per cell",
        of,
    )
    if selection.kind == "cross":
        offer_file(
            "Word alignment as TXT",
            lambda: alignment_text(recording, selection.layer, selection.head),
            f"headscope-{place}-alignment.txt",
            "Which words this head links, as 0-0 1-2",
            of,
        )
    of = "All that was recorded"
    offer_file(
        "Metrics of all heads as CSV",
        lambda: metrics_csv(recording),
        "headscope-metrics.csv",
        "Every metric of every kind, layer and head",
        of,
    )
    offer_file(
        "All heads as NPZ",
        lambda: recording_npz(recording),
        "headscope-recording.npz",
        "Every kind, layer and head as NumPy arrays",
        of,
    )


def download(
    title: str,
    make: Callable[[], bytes],
    file: str,
    explain: str,
    key: str | None = None,
    is_off: bool = False,
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
        disabled=is_off,
    )


def _choose_look() -> bool:
    try:
        require("paper")
    except NotInstalled as error:
        st.caption(literal(f"No figures for a paper: {error}"))
        return False
    titles = {
        "one": f"One column, {COLUMN} in",
        "two": f"Two columns, {PAGE} in",
        "slide": f"Slide 16:9, {WIDE:.2f} in",
    }
    screen = session().screen
    choose_one("Width of figures", "column", titles, screen.column)
    with st.container(horizontal=True, gap="small"):
        choose_one("Scale", "scale", LAWS, screen.scale, help=OF_SCALE)
        fonts = {"": FAMILY, **{each: each for each in families() if each != FAMILY}}
        choose_one("Typeface", "font", fonts, screen.font, as_list=True, width=220)
    return True


def _typed_file(pane: Pane, exhibits: Iterable[Exhibit]) -> None:
    """Offer the page as a file whose reader types; else say why there is none."""
    try:
        make, why = typed_page_of(pane, exhibits), ""
    except (AliveError, NothingLeft) as error:
        make, why = bytes, str(error)
    explain = "One file whose reader types sentences of their own: its model is in it"
    download(
        "The reader can type",
        make,
        f"headscope-{pane.screen.page}.html",
        why or explain,
        is_off=bool(why),
    )


def _figure_files(pane: Pane, exhibit: Exhibit, name: str, width: float | None, key: str) -> None:
    """width: in inches; None: a slide."""
    scale, font = pane.screen.scale, pane.screen.font

    def figure() -> Figure:
        made = figure_of(pane, exhibit, name=name, scale=scale)
        family = font if font in families() else ""  # a link may come from another machine
        return replace(made, is_slide=width is None, font=family)

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
