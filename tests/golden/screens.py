"""What a page draws in the app: its tables as text, its charts and components, its CSV files.

This is read from what reaches the browser, so it says the same however pages are written.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cache
from html.parser import HTMLParser
from typing import Any
from unittest.mock import patch

from streamlit.components.v2 import manifest_scanner
from streamlit.testing.v1 import AppTest

from tests.viz.ui.test_app import start
from viz.screen import Screen, spell

PATIENCE = (
    "viz.ui.progress.LIVE_TEXT_PATIENCE",
    "viz.ui.progress.PATIENCE",
    "viz.ui.progress.LONG",
)
"""Seconds that a page waits before it shows what there is so far: here all of it is wanted."""

SCAN = "scan_component_manifests"
scan = cache(getattr(manifest_scanner, SCAN))
"""What installed packages say of themselves is read once, not at every start of the app."""


@dataclass(frozen=True)
class Drawn:
    """A page as a browser gets it, in plain values."""

    charts: tuple[str, ...]
    """What is said of each to those who do not see it."""
    components: tuple[str, ...]
    tables: tuple[tuple[tuple[str, ...], ...], ...]
    """The texts of cells, row by row."""
    files: Mapping[str, bytes]
    """Name -> content of all CSV files that it offers."""


def drawn_at(screen: Screen) -> Drawn:
    """The page of an address."""
    offers: dict[str, Callable[[], bytes]] = {}

    def offer(title: str, make: Callable[[], bytes], file: str, **more: Any) -> None:
        offers[file] = make

    with ExitStack() as patched:
        patched.enter_context(patch("streamlit.download_button", offer))
        patched.enter_context(patch.object(manifest_scanner, SCAN, scan))
        for patience in PATIENCE:
            patched.enter_context(patch(patience, 60.0))
        app = start("save", **{"page": screen.page, **spell(screen)})
        files = {name: make() for name, make in offers.items() if name.endswith(".csv")}
    return Drawn(_charts(app), _components(app), tuple(_tables(app)), files)


def _charts(app: AppTest) -> tuple[str, ...]:
    alts = [each.proto.alt for each in app.get("plotly_chart")]
    return tuple(sorted(sum((charts_in(each.proto.body) for each in app.get("html")), alts)))


def _components(app: AppTest) -> tuple[str, ...]:
    names = (each.proto.component_name for each in app.get("bidi_component"))
    return tuple(sorted(name.rpartition(".")[2] for name in names))


def _tables(app: AppTest) -> Iterator[tuple[tuple[str, ...], ...]]:
    for each in (*app.dataframe, *app.table):
        rows = each.value.reset_index().astype(str).itertuples(index=False)
        yield (tuple(map(str, each.value.columns)), *(tuple(row) for row in rows))
    for each in app.get("html"):
        yield from (tuple(map(tuple, table)) for table in _read(each.proto.body).tables)


def charts_in(html: str) -> list[str]:
    """What is said of the charts that are drawn as HTML."""
    return _read(html).charts


class AltReader(HTMLParser):
    """What an HTML page says of its pictures to those who do not see them."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.texts: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.texts += (f"{name}: {value}" for name, value in attrs if name in ("alt", "aria-label"))


def _read(html: str) -> "_Reader":
    reader = _Reader()
    reader.feed(html)
    return reader


class _Reader(HTMLParser):
    """The texts of the cells of all tables, and what is said of charts."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.charts: list[str] = []
        self.tables: list[list[list[str]]] = []
        self._is_in_cell = self._is_hidden = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "figure" and ("class", "chart") in attrs:
            self.charts.append(dict(attrs)["aria-label"] or "")
        elif tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self._is_hidden = ("aria-hidden", "true") in attrs  # it repeats what heads open
            if not self._is_hidden:
                self.tables[-1].append([])
        elif tag in ("td", "th") and not self._is_hidden:
            self.tables[-1][-1].append("")
            self._is_in_cell = True
        elif self._is_in_cell and tag in ("br", "small"):
            self.tables[-1][-1][-1] += " / "

    def handle_endtag(self, tag: str) -> None:
        # What a head opens is no title: it stands behind its summary.
        self._is_in_cell = self._is_in_cell and tag not in ("td", "th", "summary")

    def handle_data(self, data: str) -> None:
        if self._is_in_cell:
            self.tables[-1][-1][-1] += data
