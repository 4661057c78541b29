"""All heads of a checkpoint: a map of each kind, and a table; and the survey that they are of."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

from transformer.checkpoint import Checkpoint, shipped_path
from transformer.corpus.labels import Atlas
from transformer.corpus.measured import metrics, roles
from transformer.corpus.shipped import FILE, FOLDER, Place, shipped_survey, write_shipped
from transformer.corpus.shipping import Gathered, sentences_for, shipping, with_card
from transformer.fingerprint import fingerprint
from transformer.recording.data import Numbering
from transformer.refusal import Refusal
from viz.app_packages import st
from viz.exhibits.exhibit import Exhibit
from viz.figures.heads.all_heads import (
    LIKENESS,
    about_sentences,
    chart,
    count_labelled,
    describe,
    heads_table,
    sentences,
)
from viz.figures.heads.orders import in_order, numbers_of, orders_of, searched_in
from viz.labels import counted, kind_title, literal
from viz.page_fields import HeadsFields
from viz.run.cache import keep
from viz.run.line import Runner
from viz.run.request import Request, open_checkpoint
from viz.run.settings import is_public
from viz.run.work import Study
from viz.screen import link
from viz.state.focus import at_head
from viz.state.page import Pane
from viz.state.state import bound, change, session
from viz.ui.controls import choose_one, help_of
from viz.ui.save_menu import offer_figures, offer_file
from viz.ui.showing import below, columns, show_for_choice, show_with_files

# All heads of a checkpoint: a map of each kind, and a table of those that are chosen there, that
# a search finds, in the order of a column.

ALL, ALL_KINDS = "all", "All kinds"
"""In place of a kind, and its title."""
FIND = "Find a head or what it does"
TABLE = "heads"
SAYS = (
    "A mark is a head: its colour is what it does, its size what it is worth. A click opens it; "
    "the lasso above a map lists those that it is drawn around."
)


@dataclass
class Clearings:
    """The times that a choice on maps was given up: each begins new maps, without its outline."""

    n: int = 0


def choose_maps(pane: Pane, atlas: Atlas) -> None:
    """Draw the choices of the maps: the kind, and what stands along the axes."""
    own = pane.screen.of(HeadsFields)
    look: Any = {"label_visibility": "collapsed"}
    if len(atlas.kinds) > 1:
        titles = {ALL: ALL_KINDS} | {kind: kind_title(kind) for kind in atlas.kinds}
        choose_one("Heads", "heads_kind", titles, own.heads_kind, **look)
    numbers = numbers_of(atlas, kinds_on(pane, atlas.kinds))
    axes = {LIKENESS: "By likeness"} | numbers
    look |= {"as_list": True, "width": 170}
    if choose_one("Across", "heads_x", axes, own.heads_x, **look) != LIKENESS:
        choose_one("Up", "heads_y", numbers, own.heads_y, **look)


def exhibits_of_all(pane: Pane, atlas: Atlas) -> dict[str, Exhibit]:
    """A map of each kind that is seen, and the table of the heads that are listed."""
    own, kinds = pane.screen.of(HeadsFields), kinds_on(pane, atlas.kinds)
    numbers = numbers_of(atlas, kinds)
    x = own.heads_x if own.heads_x in numbers else LIKENESS
    y = own.heads_y if own.heads_y in numbers else next(iter(numbers))
    maps = {
        f"map_{kind}": Exhibit(
            f"Heads, {kind_title(kind)}",
            chart(atlas, kind, x, LIKENESS if x == LIKENESS else y),
            describe(atlas, kind),
            about="checkpoint",
        )
        for kind in kinds
    }
    places = _places(pane, atlas)
    links = [link(at_head(pane.screen, place)) for place in places]
    table = heads_table(atlas, places, list(numbers), links, own.heads_order)
    n = sentences(atlas.survey.n_sentences)
    text = f"{counted(len(places), 'head', 'heads')} over {n}."
    return maps | {TABLE: Exhibit("Heads", table, text, about="checkpoint")}


def all_heads(pane: Pane, atlas: Atlas) -> None:
    """The maps beside each other, the table below, and whose sentences these are."""
    st.caption(
        f"{count_labelled(atlas)} {literal(SAYS)}",
        help=help_of("head_label", "head_worth", "footprint"),
    )
    exhibits, n = exhibits_of_all(pane, atlas), session().of(Clearings).n
    maps = {name: each for name, each in exhibits.items() if name != TABLE}
    for place, (name, exhibit) in zip(columns(len(maps)), maps.items(), strict=True):
        with place:
            show_for_choice(exhibit, f"{name} {n}", partial(_take, name.removeprefix("map_")))
    offer_figures(pane, maps)
    below(lambda _: _choose_rows(pane, atlas), pane)
    show_with_files(pane, exhibits[TABLE], TABLE)
    offer_file(
        "Survey as CSV",
        atlas.survey.to_csv,
        "headscope-survey.csv",
        "Every number of every head, with its interval",
        exhibits[TABLE].title,
    )
    below(lambda _: _say_card(atlas), pane)


def _choose_rows(pane: Pane, atlas: Atlas) -> None:
    """Draw the search, the order, and how many heads are listed."""
    own, look = pane.screen.of(HeadsFields), dict[str, Any](label_visibility="collapsed")
    with st.container(horizontal=True, vertical_alignment="center", key="heads rows"):
        find: Any = {"placeholder": FIND, "width": 260}
        st.text_input("Find", own.heads_find, **look, **find, **bound("heads_find", own.heads_find))
        numbers = numbers_of(atlas, kinds_on(pane, atlas.kinds))
        look |= {"as_list": True, "width": 200}
        choose_one("Sorted", "heads_order", orders_of(numbers), own.heads_order, **look)
        n, n_all = len(_places(pane, atlas)), len(atlas.heads)
        st.caption(f"{n:,d} of {counted(n_all, 'head', 'heads')}", width="content")
        if own.heads_among:
            text = f"{len(own.heads_among):d} chosen on the maps"
            st.button(text, icon=":material/close:", help="List all heads again", on_click=_clear)
    of = (metrics() | roles()).get(own.heads_order)  # other numbers have a line that explains them
    if own.heads_order in numbers and of is not None:
        st.caption(literal(f"{of.title}: {of.explain}"))


def kinds_on(pane: Pane, kinds: Iterable[str]) -> list[str]:
    """The kind that is chosen, or all of them."""
    chosen = pane.screen.of(HeadsFields).heads_kind
    return [kind for kind in kinds if kind == chosen] or list(kinds)


def _places(pane: Pane, atlas: Atlas) -> list[Place]:
    """The heads of these kinds that were chosen and that the search finds, in their order."""
    own, kinds = pane.screen.of(HeadsFields), kinds_on(pane, atlas.kinds)
    wanted, places = own.heads_find.casefold().split(), list[Place]()
    among = set(own.heads_among) & set(atlas.heads) or set(atlas.heads)
    for place in atlas.heads:
        text = searched_in(place, atlas)
        if place in among and place[0] in kinds and all(word in text for word in wanted):
            places.append(place)
    return in_order(places, atlas, own.heads_order)


def _take(kind: str, chosen: Sequence[Sequence[Any]]) -> None:
    """Open the head that was clicked; list those that were drawn around, beside other maps'."""
    named = (str(card[-1]).rsplit(".", 2) for card in chosen)
    places = [(kind, int(layer), int(head)) for kind, layer, head in named]
    if len(places) == 1:
        _, layer, head = places[0]
        change(heads_of="one", kind=kind, layer=layer, head=head)
        return
    before = session().screen.of(HeadsFields).heads_among
    change(heads_among=(*(each for each in before if each[0] != kind), *places))


def _clear() -> None:
    session().of(Clearings).n += 1
    change(heads_among=())


def _say_card(atlas: Atlas) -> None:
    """Say whose sentences these are, and when they were read."""
    for paragraph in about_sentences(atlas):
        st.caption(literal(paragraph))


# The atlas of a checkpoint: of the survey in its folder, or of one that is made on screen.

STEP = 4
"""Sentences of a step: others wait for the end of one."""


def atlas_of(request: Request, numbering: Numbering = ()) -> Atlas | None:
    """The atlas of a checkpoint's own survey; None where it has none. Raises Refusal.

    numbering: that of a recording of the checkpoint.
    """
    folder = shipped_path(request.checkpoint)
    try:
        written = (folder / FOLDER / FILE).stat().st_mtime_ns
    except OSError:
        return None
    return _read(folder, request.version, written, numbering)


@keep(8, "Reading the survey")
def _read(folder: Path, version: int, written: int, numbering: Numbering) -> Atlas | None:
    """version, written: of the weights, and of the survey; others are another atlas."""
    shipped = shipped_survey(folder)
    return None if shipped is None else Atlas(shipped, numbering)


@dataclass(frozen=True)
class HeadSurvey(Study[Gathered]):
    """The survey of a checkpoint that has none, over the sentences that come with us."""

    checkpoint: str
    version: int

    @classmethod
    def of(cls, request: Request) -> "HeadSurvey":
        """The survey of the checkpoint that a request is for."""
        return cls(request.checkpoint, request.version)

    def run(self, before: Gathered | None, runner: Runner) -> Iterator[Gathered]:
        checkpoint = open_checkpoint(Request(self.checkpoint, self.version, "", "none"))
        steps, so_far = runner.steps(checkpoint.model), before
        for so_far in steps.of(shipping(checkpoint, sentences_for(checkpoint), before, STEP)):
            yield so_far
        if so_far is not None and not is_public():
            keep_on_disk(checkpoint, so_far)

    def progress(self, value: Gathered) -> tuple[int, int]:
        return value.n_done, value.n_lines

    def n_read(self, value: Gathered) -> int:
        return value.n_done


def keep_on_disk(checkpoint: Checkpoint, gathered: Gathered) -> None:
    """Write a whole survey beside the weights, where that is allowed; else it stays in memory."""
    try:
        of = fingerprint(checkpoint.path)
        if of:
            shipped = with_card(gathered.shipped, checkpoint.name, of, "the page Heads")
            write_shipped(checkpoint.path / FOLDER, shipped, of)
    except (Refusal, OSError):
        return


@lru_cache(maxsize=8)
def atlas_so_far(gathered: Gathered, numbering: Numbering) -> Atlas:
    """The atlas of a survey as far as it is, made once of each."""
    return Atlas(gathered.shipped, numbering)
