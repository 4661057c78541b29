"""Explore: all heads of all kinds of attention, one of them large, and one of its cells."""

from collections.abc import Mapping
from dataclasses import astuple, replace

from transformer.analysis.reading import Reading, lenses
from viz.app_packages import st
from viz.causes.card import is_enlarged
from viz.causes.change import offer_change
from viz.causes.parts import card_parts, drawer
from viz.causes.studies import (
    awaits_costs,
    finish_worth,
    finished_costs,
    head_worth,
    watch_worth,
    with_costs,
)
from viz.components.head_grid.head_grid import HeadGrid
from viz.exhibits.exhibit import Actions, Exhibit, PictureAt
from viz.pages.heads.questions import ask_of_pins, exhibits_of_pins
from viz.screen import put
from viz.state.changing import edited_heads, heads_off, switch_off
from viz.state.focus import at_head, pinned_target, pinned_tokens, turn_to_head
from viz.state.page import Exhibits, Page, Pane
from viz.state.state import change
from viz.ui.changed_output import output_exhibit
from viz.ui.controls import choose_head, choose_reading, draw_link, readable
from viz.ui.experiment import changing, experiment_button
from viz.ui.parts import draw_part, exhibits_of
from viz.ui.picture import choose_picture, large, panel, views_of_page
from viz.ui.save_menu import offer_figures, offer_head
from viz.ui.showing import below, show, show_declared
from viz.views.view import HeadChoice

OFF = "This head is off: it is shown where it looks, but what it sees is left out."
PLAIN = (
    "This view always shows the plain weight between one query token and one key token. The "
    "settings under *Show as* do not apply."
)
UNPINNED = "Pin a written word, and its card stands here: what it looks at, and what it needs."
CARD = card_parts(pinned_target)
MOST_CELLS = 2**26
"""Cells of all heads: 144 heads of 680 tokens. Beyond, the open head is sent before all others."""


def draw(pane: Pane) -> None:
    """All heads, and one of them large."""
    pane = with_costs(pane, is_watched=bool(_card(pane)))
    watch_worth(pane)
    exhibits = {**_pictures(pane, is_live=True), **output_exhibit(pane)}
    columns = st.columns([4.3, 7], gap="large")
    parts = list(zip(columns, (_grid, _large), strict=True))
    # What is sent first is painted first; but of a long text all heads take much longer than one
    # layer.
    n_cells = sum(each.n_cells for each in pane.recording.attentions.values())
    for column, part in parts if n_cells <= MOST_CELLS else reversed(parts):
        with column:
            part(pane, exhibits)
    if not _card(pane) and not awaits_costs(pane):  # else the study is watched twice
        with columns[0]:
            below(_in_drawer, pane)
    below(_views, pane)


def _views(pane: Pane) -> None:
    """Whatever other views of attention there are."""
    for name, view in views_of_page("explore", pane.recording).items():
        heads = (each.name for each in view.controls if isinstance(each, HeadChoice))
        panel(name, pane, **dict.fromkeys(heads, pane.selection))  # it is chosen above


def _why(pane: Pane) -> None:
    for part in CARD:
        draw_part(pane, part)


def _in_drawer(pane: Pane) -> None:
    """Below the heads, where they leave room: beside the picture of what is pinned."""
    with drawer(pane, pinned_target):
        _why(pane)


def _card(pane: Pane) -> Exhibits:
    """The exhibits of the card, where it stands in the place of the large picture."""
    return CARD[0].exhibits(pane) if is_enlarged(pane) else {}


def _exhibits(pane: Pane) -> Exhibits:
    """The large picture, or the card in its place, and the grid, which is what is touched where
    heads are switched off.
    """
    finish_worth(pane)
    pictures, changed = _pictures(finished_costs(pane)), output_exhibit(pane)
    causes = exhibits_of(CARD, pane)
    if card := _card(pane):
        return {**card, "grid": pictures["grid"], **changed, **causes}
    return {**pictures, **changed, **causes, **exhibits_of_pins(pane)}


def _pictures(pane: Pane, is_live: bool = False) -> dict[str, Exhibit]:
    """is_live: somebody may ask for what is not known yet, and gets it."""
    is_main, heads = pane.screen.tool == "heads", _all_heads(pane, readable(pane), is_live)
    grid = Exhibit("All heads", heads, is_main=is_main, pane=pane)
    return {"picture": large(pane.screen.picture, pane), "grid": grid}


def _all_heads(pane: Pane, reading: Reading, is_live: bool) -> PictureAt:
    selection, screen = pane.selection, pane.screen
    plain = HeadGrid(_readable(pane, reading), reading)
    grid = replace(plain, worth=head_worth(pane, is_live))
    over = {
        "selected": (selection.kind, selection.layer, selection.head),
        "show": screen.show,
        "sort": screen.sort,
        "top": screen.top,
        "own_scale": screen.own_scale,
        "speaks": False,  # the large picture does
        "tool": screen.tool,
        "off": heads_off(screen.edits),
        "edited": edited_heads(screen.edits),
        "edits": screen.edits,
    }
    on: Actions = {
        "open": lambda head: turn_to_head(pane, *head),
        "off": lambda off: switch_off(map(tuple, off)),
        "view": lambda view: change(show=view["show"], sort=view["sort"], top=view["top"]),
    }
    typed = None if lenses()[reading.lens].of_output else plain
    return PictureAt(grid, over, {"pinned": pinned_tokens(pane)}, typed, on, "grid")


def _readable(pane: Pane, reading: Reading) -> tuple[str, ...]:
    """The kinds of attention that this lens can show."""
    lens = lenses()[reading.lens]
    kinds = pane.recording.attentions
    return tuple(kind for kind in kinds if lens.why_not(pane.recording, kind) is None)


def _grid(pane: Pane, exhibits: Mapping[str, Exhibit]) -> None:
    offer_change(pane)  # above them: in any window it is in sight
    show(exhibits["grid"], "grid")


def _large(pane: Pane, exhibits: Mapping[str, Exhibit]) -> None:
    """One head, below what is chosen for it: which, as what picture, and how it is read."""
    card = _card(pane)
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall", key="of-head"):
        choose_head(pane, as_list=True)
        experiment_button()
        name = choose_picture(pane)
        if not card:  # it is no map
            choose_reading(pane, name)
    left_out = "picture" if card else ""  # the card has its own files
    offer_figures(pane, {it: exhibits[it] for it in exhibits if it != left_out})
    offer_head(pane)
    with st.container():  # whatever comes into it, and what follows keeps its place on the page
        changing(pane)
    if name == "inside":
        if astuple(pane.selection) in heads_off():  # the sentence of the others says it
            st.caption(OFF)
        if replace(readable(pane), rows="produced", words=False) != Reading():
            st.caption(PLAIN)
    if name == "why" and pinned_target(pane) is None:
        st.caption(UNPINNED)
    if not card:
        place = st.container()
        below(_over_sentences, pane)  # it comes first: the picture leaves room for it
        with place:
            show(exhibits["picture"], name)
        below(lambda _: show_declared(pane, exhibits_of_pins), pane)
    if card:
        _why(pane)


def _over_sentences(pane: Pane) -> None:
    """A link to what this head does in other sentences, and which heads do what is pinned."""
    with st.container(key="foot", horizontal=True, vertical_alignment="center"):
        draw_link("What does this head do?", at_head(pane.screen, astuple(pane.selection)))
        if pane.recording.vector is not None:
            draw_link("How alike is another sentence?", put(pane.screen, page="decode"))
        ask_of_pins(pane)


PAGE = Page(
    "explore",
    "Explore",
    "Look",
    1,
    draw,
    exhibits=_exhibits,
    stands_alone=True,
    presented=offer_change,
    has_card=True,
    edits="made",
    subject="What each attention head of a Transformer looks at",
)
