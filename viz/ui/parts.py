"""A page of several parts, one of them shown: each declares what it shows, as data."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NamedTuple

from transformer.checkpoint import CheckpointError
from transformer.refusal import Refusal
from viz.app_packages import DeltaGenerator, st
from viz.components.kit.picture import NothingLeft
from viz.export import rows_csv
from viz.labels import literal
from viz.run.work import Growth, Study
from viz.screen import value_of
from viz.state.page import Exhibits, Page, Pane
from viz.state.state import change, note, warn
from viz.ui.controls import choose_one, help_of
from viz.ui.progress import begin, grow, is_written, whole
from viz.ui.save_menu import is_menu_open, offer_figures, offer_file
from viz.ui.showing import columns, files_of, show, show_with_files


class Rows(NamedTuple):
    """A file of rows beside an exhibit's own, or, of a study that grows, in the place of that: its
    button, its name, its help, what makes it.
    """

    button: str
    file: str
    help: str
    make: Callable[..., Sequence[Mapping[str, Any]]]
    """Runs outside of the session, once it is asked for; told the value of a study that grows."""


def _nothing(pane: Pane) -> None:
    pass


@dataclass(frozen=True)
class Part:
    """A part of a page, as data: the frame draws it, prints it, and offers its files."""

    title: str
    exhibits: Callable[[Pane], Exhibits] = lambda pane: {}
    """Return what it shows, by name. Raises NothingLeft or a Refusal, which says why nothing."""
    choose: Callable[[Pane], object] = _nothing
    """Draws what is chosen for it, beside the names of the parts."""
    rows: Callable[[Pane], Mapping[str, Rows]] = lambda pane: {}
    """Return a further file of rows, by the name of the exhibit that it belongs to."""
    beside: Mapping[str, Callable[[Pane], object]] = field(default_factory=dict)
    """Drawn below an exhibit, by its name: what else is done with it."""
    above: Mapping[str, Callable[[Pane], object]] = field(default_factory=dict)
    """Drawn above an exhibit, by its name, and while its study goes on."""
    problems: Callable[[Pane, Any], Sequence[str]] = lambda pane, value: ()
    """Return what a study, told its value, could not do: warned of above its exhibit."""
    below: Callable[[Pane, Any], str] = lambda pane, value: ""
    """Return what stands below all of them; told the value of a study, where there is one."""
    widths: Sequence[float] = ()
    """The shares of its exhibits' columns; empty: they stand below each other."""
    instead: Callable[[Pane], str] = lambda pane: ""
    """Return what stands below the sentence that says why it has no exhibits."""
    draw: Callable[[Pane], None] | None = None
    """Draws all of it, where its exhibits are not all that there is to see."""
    says: str = ""
    """A sentence beside the names of the parts."""
    words: Sequence[str] = ()
    """The words of the glossary that explain that sentence."""
    ahead: Callable[[Pane], object] = _nothing
    """Draws what its exhibits are made of, ahead of them and whether there are any."""
    grows: bool = False
    """True: a study is seen as far as it is, with what is above it; else once it is whole."""
    asks: Callable[[Pane, Study[Any]], bool] = lambda pane, study: True
    """Tell whether a study that grows may begin; where not, draws what begins it."""
    is_offered: Callable[[Pane], bool] = lambda pane: True
    """Tell whether the model has any of it; where not, an address alone leads to why not."""


@dataclass(frozen=True)
class Parts:
    """The parts of a page, and where it is said which of them is shown."""

    label: str
    name: str
    """The field of the Screen that names the part."""
    parts: Mapping[str, Part]
    chosen: Callable[[Pane], str | None]
    key: str = ""
    """The key of the row with their names."""
    has_labels: bool = True
    """True: what is chosen beside the names has labels above it, and they stand as low."""
    refuse: Callable[[object], None] = warn
    """Says what is wrong with a checkpoint: `fail`, where all of the page is of that."""

    def name_on(self, pane: Pane) -> str:
        """Return the name of the part that is shown: the first, where none of that name is."""
        chosen = self.chosen(pane)
        return next(name for name in (chosen or "", *self.parts) if name in self.parts)

    def part_on(self, pane: Pane) -> Part:
        """Return the part that is shown."""
        return self.parts[self.name_on(pane)]

    def draw(self, pane: Pane) -> None:
        """The names of the parts, what is chosen for the one that is shown, and it itself."""
        look: Any = {"vertical_alignment": "center"}
        if self.has_labels:
            look = {"vertical_alignment": "bottom", "gap": "medium"}
        top = st.container(horizontal=True, key=self.key or None, **look)
        with top:
            part = self._named(pane)
        self._draw(pane, part, top)

    def choose(self, pane: Pane) -> None:
        """The same without the part, as `choices` of a Page: in its header."""
        self._named(pane).choose(pane)

    def draw_shown(self, pane: Pane) -> None:
        """The part alone, where `choose` draws the rest."""
        self._draw(pane, self.part_on(pane), None)

    def _named(self, pane: Pane) -> Part:
        chosen = self.name_on(pane)
        titles = {
            name: part.title
            for name, part in self.parts.items()
            if name == chosen or part.is_offered(pane)
        }
        hidden: Any = {"label_visibility": "hidden" if self.has_labels else "collapsed"}
        name = choose_one(self.label, self.name, titles, chosen, **hidden)
        part = self.parts[name]
        if part.says:
            st.caption(literal(part.says), help=help_of(*part.words))
        return part

    def _draw(self, pane: Pane, part: Part, top: DeltaGenerator | None) -> None:
        try:
            draw_part(pane, part, top)
        except CheckpointError as error:
            self.refuse(error)
        except (NothingLeft, Refusal) as reason:
            note(reason)

    def exhibits(self, pane: Pane) -> Exhibits:
        """Return those of the part that is shown; none where nothing is left. Raises Refusal."""
        with suppress(NothingLeft):
            return self.part_on(pane).exhibits(pane)
        return {}

    def page(self, name: str, title: str, group: str, order: int, **others: Any) -> Page:
        """Return the page of them; others: further fields of a Page."""
        return Page(name, title, group, order, self.draw, exhibits=self.exhibits, **others)


def folded(
    part: Part,
    field: str,
    help: str,
    is_offered: Callable[[Pane], bool],
    why_not: Callable[[Pane], str | None] = lambda pane: None,
) -> Part:
    """Return the part behind a button that opens it, and closes it again.

    field: of the Screen: whether it is open. is_offered: False where nobody would ask for it.
    why_not: the reason why it cannot be opened; None: it can.
    """

    def exhibits(pane: Pane) -> Exhibits:
        is_open = value_of(pane.screen, field) and is_offered(pane) and why_not(pane) is None
        return part.exhibits(pane) if is_open else {}

    def draw(pane: Pane) -> None:
        if not is_offered(pane):
            return
        is_open, why = value_of(pane.screen, field), why_not(pane)
        st.button(
            literal(part.title),
            on_click=change,
            kwargs={field: not is_open},
            icon=f":material/{'expand_less' if is_open else 'expand_more'}:",
            help=literal(why or help),
            disabled=why is not None,
        )
        if is_open and why is None:
            try:
                draw_part(pane, part)
            except (NothingLeft, Refusal) as reason:
                note(reason)

    return replace(part, exhibits=exhibits, draw=draw)


def exhibits_of(parts: Iterable[Part], pane: Pane) -> Exhibits:
    """Return those of all parts, in their order. Raises as they do."""
    return {name: it for part in parts for name, it in part.exhibits(pane).items()}


def draw_part(pane: Pane, part: Part, top: DeltaGenerator | None = None) -> None:
    """Draw a part by itself. top: where what is chosen for it goes; None: that stands elsewhere.

    Raises NothingLeft or a Refusal, as its exhibits do.
    """
    if part.draw is not None:
        if top is not None:
            with top:
                part.choose(pane)
        part.draw(pane)
        return
    part.ahead(pane)
    try:  # before its choices: where there are none, nothing is chosen
        exhibits = part.exhibits(pane)
    except NothingLeft as reason:
        note(reason)
        if text := part.instead(pane):
            st.caption(text)
        return
    if top is not None:
        with top:
            part.choose(pane)
    value, files = None, part.rows(pane)
    n = min(len(part.widths), len(exhibits))
    places: Sequence[Any] = [nullcontext()] * len(exhibits)
    if n > 1:
        places = columns(list(part.widths), gap="large")
    for place, (name, exhibit) in zip(places, exhibits.items(), strict=True):
        with place:
            if isinstance(exhibit, Growth) and part.grows:
                value = _grown(pane, part, name, exhibit, files.get(name))
                if value is None:
                    return
                continue
            part.above.get(name, _nothing)(pane)
            if isinstance(exhibit, Growth):
                value = whole(exhibit.study, st.empty())
                if value is None:
                    return
                for problem in part.problems(pane, value):
                    warn(problem)
                exhibit = exhibit.exhibit(value)
            show_with_files(pane, replace(exhibit, note=""), name)
            if (rows := files.get(name)) is not None:
                offer_file(rows.button, partial(_csv, rows), rows.file, rows.help, exhibit.title)
            if name in part.beside:
                with st.container(horizontal=True):
                    part.beside[name](pane)
            if exhibit.note:  # below, as the first step in a picture may take it away
                note(exhibit.note)
    if text := part.below(pane, value):
        st.caption(text)


def _csv(rows: Rows, *value: Any) -> bytes:
    return rows_csv(rows.make(*value))


def _grown(pane: Pane, part: Part, name: str, growth: Growth[Any], rows: Rows | None) -> Any:
    """Draw it as far as it is. Return its value, once that is enough for what follows."""
    if growth.title and not is_written(pane, growth.title):
        return None
    if not part.asks(pane, growth.study):
        return None
    latest = begin(growth.study).latest
    was_enough = latest is not None and growth.is_enough(latest)

    def draw(value: Any) -> None:
        if growth.is_enough(value) and not was_enough:
            st.rerun()  # what follows below needs all of it
        part.above.get(name, _nothing)(pane)
        show(growth.exhibit(value), name)

    work = grow(growth.study, draw)
    value = work.latest
    if value is None:
        return None
    is_enough = was_enough or work.is_whole
    if is_menu_open():
        exhibit = growth.exhibit(value)
        if rows is not None:
            offer_file(rows.button, partial(_csv, rows, value), rows.file, rows.help, exhibit.title)
            if is_enough:
                offer_figures(pane, {name: exhibit}, f"paper {name}")
        elif is_enough:
            files_of(pane, exhibit, name)
    return value if is_enough else None
