"""Lab: positions shifted, scaled, swapped and taken away; which heads notice, and how."""

import html
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from torch import Tensor

from transformer import InputError, Recording
from transformer.analysis.position_dependence import by_offset, divergences, no_positions
from transformer.analysis.selection import Selection
from transformer.refusal import Refusal
from viz.app_packages import st
from viz.exhibits.exhibit import Exhibit
from viz.exhibits.table import Cell, Table
from viz.export import rows_csv
from viz.figures import offset_curves
from viz.figures.dependence_tables import (
    dependence_cell,
    dependence_table,
    dependence_tables,
)
from viz.labels import kind_title, literal
from viz.pages.positions.changes import choose_changes
from viz.pages.positions.terms import terms, terms_exhibits
from viz.run.batches import Runner
from viz.run.request import Request, answer
from viz.run.study import Study
from viz.run.work import finish
from viz.screen import FIRST_PAGE, link
from viz.state.note import note
from viz.state.page import Exhibits, Pane
from viz.ui.columns import below, columns
from viz.ui.progress import is_written, whole
from viz.ui.saving import download, for_a_paper
from viz.ui.showing import show, show_with_files
from viz.ui.words import help_of

NO_POSITIONS = "taking all positions away turns"


Divergences = Mapping[str, Tensor]
"""Kind -> [L, H] in bits."""


@dataclass(frozen=True)
class Pair(Study[Divergences]):
    """Two runs over one text and one output, the second with edits: how far each head differs."""

    before: Request
    after: Request
    names: tuple[str, str]
    """The names of both runs, in a few words."""

    def recordings(self, runner: Runner | None = None) -> tuple[Recording, Recording]:
        return answer(self.before, runner).recording, answer(self.after, runner).recording

    def run(self, before: Divergences | None, runner: Runner) -> Iterator[Divergences]:
        yield divergences(*self.recordings(runner))


def lab(pane: Pane) -> None:
    """Draw the changes; then all heads, and one of them as a curve and as the parts of a score."""
    if not is_written(pane, "The lab follows"):
        return
    place = st.empty()
    try:
        plain = whole(replace(pane.answer.request, edits=()), place, "lab")
        if plain is None:
            return
        choose_changes(pane, replace(pane, result=plain))
        pair = _pair(pane)
        dependence = whole(pair, place)
    except Refusal as error:
        note(error)
        return
    if dependence is None:
        return
    pane = replace(pane, opens_at=_first(pane, dependence))
    heads, one = columns([6, 5.6], wall=[8, 4.5], gap="large")
    with heads:
        _heads(pane, pair, dependence)
    with one:
        _offsets(pane, pair)
        below(terms, pane)  # both would be taller than a wall


def lab_exhibits(pane: Pane) -> Exhibits:
    """Declare the exhibits of the lab. Raises Refusal."""
    pair = _pair(pane)
    dependence = finish(pair)  # which names the head that the others are of
    pane = replace(pane, opens_at=_first(pane, dependence))
    exhibits = {"position-dependence": _dependence(pane, dependence)}
    with suppress(InputError):  # of some heads there is nothing to average
        exhibits["offsets"] = _by_offset(pane, pair)
    return {**exhibits, **terms_exhibits(pane)}


def _pair(pane: Pane) -> Pair:
    """The run without edits, and with those in force; without any positions where none are.

    The second reads the output of the first.
    """
    name, changed = "with the edits", pane.answer.request
    plain = replace(changed, edits=())
    if not changed.edits:
        name, edits = "without positions", no_positions(pane.recording)
        changed = replace(changed, edits=tuple(map(str, edits)))
    if pane.answer.decoding is not None:
        changed = changed.made_to_read(plain)
    return Pair(plain, changed, ("as it is", name))


def _first(pane: Pane, dependence: Mapping[str, Tensor]) -> Selection | None:
    """Choose the head that changes most of those whose scores can be taken apart."""
    attentions = pane.recording.attentions
    values = [
        (value, kind, head)
        for kind, bits in dependence.items()
        if not attentions[kind].is_cross
        for head, value in enumerate(bits[0].nan_to_num().tolist())
    ]
    if not values:
        return None
    _, kind, head = max(values, key=lambda each: each[0])
    return Selection(kind, 0, head)


def _dependence(pane: Pane, dependence: Mapping[str, Tensor]) -> Exhibit:
    cause = "the edits in force turn" if pane.answer.request.edits else NO_POSITIONS
    says = (
        f"How far {cause} each head's rows, mean over its queries; both runs read the same output"
    )
    return Exhibit(
        "Position dependence",
        dependence_tables(_tables(pane, dependence), f"{says}."),
        says,
        pane=pane,
    )


def _heads(pane: Pane, pair: Pair, dependence: Mapping[str, Tensor]) -> None:
    st.markdown("**Position dependence**", help=help_of("position_dependence", "jensen_shannon"))
    exhibit = _dependence(pane, dependence)
    show(exhibit, "dependence")
    st.markdown(_most(pane.recording, dependence))
    rows = _rows(dependence)
    with st.container(horizontal=True):
        download(
            "Heads as CSV",
            lambda: rows_csv(rows),
            "headscope-position-dependence.csv",
            "One row per head, in bits",
        )
        for_a_paper(pane, {"position-dependence": exhibit}, "paper dependence")


def _tables(pane: Pane, dependence: Mapping[str, Tensor]) -> list[Table]:
    numbers = {kind: each.number for kind, each in pane.recording.attentions.items()}
    return [
        dependence_table(
            kind_title(kind),
            [
                (f"L{numbers[kind](layer)}", _cells(pane, kind, layer, values))
                for layer, values in enumerate(bits.tolist())
            ],
        )
        for kind, bits in dependence.items()
    ]


def _cells(pane: Pane, kind: str, layer: int, values: Sequence[float]) -> list[Cell]:
    chosen = _place(pane.selection)
    return [
        dependence_cell(
            link(replace(pane.screen, kind=kind, layer=layer, head=head)),
            _name(pane.recording, kind, layer, head),
            value,
            (kind, layer, head) == chosen,
        )
        for head, value in enumerate(values)
    ]


def _place(selection: Selection) -> tuple[str, int, int]:
    return selection.kind, selection.layer, selection.head


def _name(recording: Recording, kind: str, layer: int, head: int) -> str:
    return f"{kind_title(kind)} L{recording.attentions[kind].number(layer)} H{head}"


def _rows(dependence: Mapping[str, Tensor]) -> list[dict[str, object]]:
    return [
        {"kind": kind, "layer": layer, "head": head, "bits": value}
        for kind, bits in dependence.items()
        for layer, values in enumerate(bits.tolist())
        for head, value in enumerate(values)
    ]


def _most(recording: Recording, dependence: Mapping[str, Tensor]) -> str:
    """The heads that change most and least, as Markdown."""
    values = [
        (float(bits[layer, head]), _name(recording, kind, layer, head))
        for kind, bits in dependence.items()
        for layer, head in bits.isfinite().nonzero().tolist()
    ]
    if not values:
        return ""
    (most, where), (least, there) = max(values), min(values)
    return (
        f"Most: **{literal(where)}**, {most:.2f} bits. Least: **{literal(there)}**, "
        f"{least:.2f} bits."
    )


def _by_offset(pane: Pane, pair: Pair) -> Exhibit:
    """Raises InputError where there is nothing to average."""
    kind, layer, head = _place(pane.selection)
    title = _name(pane.recording, kind, layer, head)
    before, after = (by_offset(each.attentions[kind], layer, head) for each in pair.recordings())
    return Exhibit(
        "Mean weight by offset",
        offset_curves.chart(before, after, pair.names, title),
        offset_curves.describe(before, after, pair.names, title),
        pane=pane,
    )


def _offsets(pane: Pane, pair: Pair) -> None:
    kind, layer, head = _place(pane.selection)
    try:
        exhibit = _by_offset(pane, pair)
    except InputError as error:
        st.caption(literal(str(error)))
        return
    to = replace(pane.screen, page=FIRST_PAGE, kind=kind, layer=layer, head=head)
    with show_with_files(pane, exhibit, "offsets"):
        address = html.escape(link(to))
        st.html(f'<a data-state href="{address}">Open on Explore</a>', width="content")
