"""The browser's history: what the server writes into it, and where Back and Forward lead."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from viz.components.kit.browser import Component, pack
from viz.components.kit.sync import show

ADDRESS = Component("address")


def address_bar(
    number: int,
    query: str,
    *,
    n_entries: int,
    taken: str | None,
    asked: str,
    drawn: str,
    page: str,
    title: str,
    pages: Sequence[str],
    part: str,
    ways: Mapping[str, str],
    on_back: Callable[[str], None],
    key: str = "address",
) -> None:
    """Write a query into the address of this page, once for each number; it draws nothing.

    n_entries: how many choices were made so far to which Back leads; where none was made since the
    browser wrote last, it writes over that address. taken: the query that somebody went to by Back
    or Forward, where that was the last that happened; until it is the one in the browser, nothing
    is written. asked: the query that the browser had when it asked. drawn: the name of the theme
    that pages are drawn in; where another is shown the browser asks for a run. page: the last part
    of the path, of these pages; title: the page's, for its tab; part: what of it is open. Another
    page or part begins at its top, unless by Back or Forward. ways: the links of the keys of
    one screen for a wall, see viz/talks/stage.py. on_back: called before the script runs with a
    query that somebody went to and that was not taken.
    """
    header = {
        "number": number,
        "query": query,
        "n_entries": n_entries,
        "taken": taken,
        "asked": asked,
        "drawn": drawn,
    }
    place = {"page": page, "title": title, "pages": list(pages), "part": part}
    data = pack({**header, **place, "ways": dict(ways)}, np.zeros(0, np.uint8))
    show(ADDRESS, data, key, lambda news: on_back(news["query"]) if "query" in news else None)
