"""The pictures of lessons, by the names that scenes say: exhibits of the pages that they open."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from transformer.complexity import Sizes
from viz.app_packages import st
from viz.exhibits.exhibit import Exhibit
from viz.figures.cost_table import cost_samples
from viz.figures.layer_costs import SHORTEST
from viz.labels import literal
from viz.lessons.place import Place
from viz.lessons.subject import Subject
from viz.lessons.width import sizes_of
from viz.pages.why_attention import cost_exhibits
from viz.painters.table_html import samples_body
from viz.screen import Screen, put
from viz.state.page import PAGES, Pane
from viz.ui.saving import for_a_paper
from viz.ui.showing import show


@dataclass(frozen=True)
class Source:
    """The page that declares a picture of lessons."""

    page: str
    names: tuple[str, ...] = ("picture",)
    """Names of its exhibits that stand side by side."""
    fields: Mapping[str, Any] = field(default_factory=dict)
    """Parts of its address beyond those that the scene says."""
    needs: tuple[str, ...] = ()
    """Needs that a checkpoint must meet (viz/lessons/needs.py)."""


PICTURES: Mapping[str, Source] = {
    "arrows": Source("explore", fields={"picture": "arrows"}),
    "map": Source("explore", fields={"picture": "map"}),
    "inside": Source("explore", fields={"picture": "inside"}, needs=("scores",)),
    "similarity": Source("positions", ("encoding_similarity",), needs=("sinusoids",)),
    "rotation": Source("positions", ("encoding_shift",), needs=("sinusoids",)),
    "smoothing": Source("training", ("label-smoothing",), needs=("writes",)),
    "rate": Source("training", ("learning-rate",)),
    "costs": Source("why_attention", ("operations", "longest_path"), needs=("scores",)),
}


def needs_of(name: str) -> tuple[str, ...]:
    """The needs of the picture of this name; none where there is no such picture."""
    return PICTURES[name].needs if name in PICTURES else ()


def draw_picture(name: str, pane: Pane, place: Place, key: str, opened: Screen) -> None:
    """The picture of this name; a sentence where there is none.

    pane: of the answer that the scene is shown on; opened: the address that the scene opens.
    """
    if name not in PICTURES:
        st.caption(f"There is no picture {literal(name)}.")
        return
    pane, exhibits = exhibits_in(name, pane, place, opened)
    if name == "costs":
        st.html(samples_body(cost_samples()))
    for column, each in zip(st.columns(len(exhibits)), exhibits.values(), strict=True):
        with column:
            show(each, f"{name} {key} {each.title}")
    for_a_paper(pane, exhibits, f"paper {key}")


def exhibits_in(
    name: str, pane: Pane, place: Place, opened: Screen
) -> tuple[Pane, dict[str, Exhibit]]:
    """The pane of the page that declares the picture, and its exhibits as they stand in a text.

    Where the scene opens another page, it is at the same row of the same head.
    """
    source = PICTURES[name]
    screen = put(opened, page=source.page, **source.fields)
    if screen.page != opened.page:
        row = Subject(pane.checkpoint, pane.recording, place).row
        screen = put(screen, pins=(f"q{row}",))
    page = PAGES[source.page]
    pane = page.pane(replace(pane, screen=screen))
    if name == "costs":  # the page has a few widths, and a model may have any
        n, d = sizes_of(pane.recording, place)
        exhibits = cost_exhibits(Sizes(d), max(n, SHORTEST), None)
    else:
        exhibits = page.finished(pane)
    return pane, {each: exhibits[each].still for each in source.names}
