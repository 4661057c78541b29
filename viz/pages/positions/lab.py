"""Lab: positions shifted, scaled, swapped and taken away; which heads notice, and how."""

import html
from collections.abc import Iterator, Mapping
from dataclasses import astuple, dataclass, replace
from functools import partial
from typing import Any

from torch import Tensor

from transformer import InputError, Recording
from transformer.analysis.proofs import by_offset, divergences, no_positions
from transformer.analysis.reading import Selection
from transformer.editing.checking import side_read
from transformer.edits import Edit, parse
from transformer.refusal import visible
from transformer.token import Token
from viz.app_packages import st
from viz.components.kit.picture import NothingLeft
from viz.exhibits.exhibit import Exhibit
from viz.exhibits.table import Cell
from viz.export import divergence_rows, rows_csv
from viz.figures.heads.all_heads import head_name
from viz.figures.positions import (
    chart_offset_curves,
    dependence_cell,
    dependence_table,
    dependence_tables,
    describe_offset_curves,
)
from viz.labels import in_words, kind_title, literal
from viz.pages.positions.terms import draw_terms, terms_exhibits
from viz.run.line import Runner
from viz.run.request import Request, answer
from viz.run.work import Growth, Study, finish
from viz.screen import FIRST_PAGE, link
from viz.state.changing import edit
from viz.state.page import Exhibits, Pane
from viz.state.state import bound_entry, session, widget
from viz.ui.controls import draw_control, help_of
from viz.ui.experiment import offer_edit
from viz.ui.parts import Part
from viz.ui.progress import is_written, whole
from viz.ui.save_menu import offer_figures, offer_file
from viz.ui.showing import below, columns, show, show_with_files
from viz.views.view import SideChoice

# Changes of positions, as sliders and buttons: edits as the address spells them.

MOST_SHIFT = 64
"""Positions of a shift that a slider offers; an address may ask for more."""
MOST_SCALE = 2.0
ONLY_DISTANCES = (
    "This model adds a bias of distance to its scores, and no encodings to its words: words that "
    "all move by as much attend as before, and there is nothing of one word to scale or to swap. "
    "The bias can be taken away, and words can change places."
)
SHIFT, SCALE, ZERO, SWAP = "positions-shift", "positions-scale", "positions-zero", "positions-swap"
WORDS = "words-swap"


def _choose_changes(pane: Pane, plain: Pane) -> None:
    """Sliders for the positions of a side, and two words to swap. plain: without any edits."""
    recording, read = plain.recording, side_read(pane.checkpoint)
    side = read
    has_positions = bool(recording.positions or recording.rotary)
    with st.container(horizontal=True, vertical_alignment="bottom", key="lab"):
        if len(recording.positions) > 1:
            side = draw_control(SideChoice(), plain)
        elif has_positions:
            side = next(iter(recording.positions), "text")
        if has_positions:
            _sliders(recording, side)
        kinds = list(dict.fromkeys(bias.kind for bias in recording.biases.values()))
        if kinds and not has_positions:
            st.caption(ONLY_DISTANCES, width=380)
        if kinds:
            _toggle("No bias of distance", [Edit("bias-off", kind) for kind in kinds])
        _swaps(pane, side, has_positions)


def _sliders(recording: Recording, side: str) -> None:
    look: Any = {"width": 165}
    parsed = [parse(each) for each in session().screen.edits]
    shift, scale = (
        next((it.values[0] for it in parsed if (it.name, it.place) == (name, side)), usual)
        for name, usual in ((SHIFT, 0.0), (SCALE, 1.0))
    )
    now, room, added = int(shift), MOST_SHIFT, recording.positions.get(side)
    if added is not None:  # words may be moved to the end of the table
        room = min(room, len(added.table) - len(added.tokens))
    least, most = min(0, now), max(room, now)
    if most > least:
        callback = widget(f"shift {side}", now, lambda new: _put(SHIFT, side, new, usual=0))
        st.slider("Shift by this many positions", least, most, now, **look, **callback)
    else:
        st.caption("The table of positions ends with this text: there is no room for a shift.")
    callback = widget(f"scale {side}", scale, lambda new: _put(SCALE, side, new, usual=1))
    look |= {"step": 0.1, **callback}
    st.slider("Encodings times", min(0.0, scale), max(MOST_SCALE, scale), scale, **look)
    _toggle("No positions", [Edit(ZERO, side)])


def _toggle(title: str, edits: list[Edit]) -> None:
    spelled = [str(each) for each in edits]
    is_on = set(spelled) <= set(session().screen.edits)

    def turn(new: bool) -> None:
        others = [each for each in session().screen.edits if each not in spelled]
        _have([*others, *spelled] if new else others)

    st.toggle(title, is_on, **widget(f"{title} {spelled[0]}", is_on, turn))


def _swaps(pane: Pane, side: str, has_positions: bool) -> None:
    """Two words of a side: those that are read, as they stand after swaps; else as written."""
    is_read = side == side_read(pane.checkpoint)
    tokens = pane.recording.source if is_read else pane.recording.positions[side].tokens
    usual = [i for i, it in enumerate(tokens) if not it.special and any(map(str.isalnum, it.piece))]
    usual = usual or [0]
    i = _word("Swap", "swap", tokens, usual[0])
    j = _word("with", "with", tokens, usual[-1])

    def add(name: str) -> None:
        _have([*session().screen.edits, str(Edit(name, side, (), (float(i), float(j))))])

    st.button(
        "Swap words",
        help="Each is read in the place of the other",
        disabled=i == j or not is_read,
        on_click=add,
        args=(WORDS,),
    )
    st.button(
        "Swap positions",
        help="Each is read in its own place, as if it stood in the other's",
        disabled=i == j or not has_positions,
        on_click=add,
        args=(SWAP,),
    )


def _word(title: str, name: str, tokens: tuple[Token, ...], usual: int) -> int:
    text = dict(session().screen.controls).get(name, "")
    chosen = int(text) if text.isdecimal() and len(text) < 9 else usual
    chosen = chosen if chosen < len(tokens) else usual
    names = {str(i): f"{i} {word}" for i, word in enumerate(in_words(tokens))}
    look: Any = {"format_func": lambda i: visible(names[i]), "width": 140}
    look |= bound_entry("controls", name, str(chosen), str(usual))
    st.selectbox(title, names, chosen, **look)
    return chosen


def _put(name: str, side: str, value: float, usual: float) -> None:
    """Have this value in force, in the place of another one."""
    now = session().screen.edits
    others = [each for each in now if not each.startswith(f"{name}:{side}=")]
    made = str(Edit(name, side, (), (float(value),)))
    _have(others if value == usual else [*others, made])


def _have(edits: list[str]) -> None:
    """A swap names positions as they are before a shift."""
    edit(sorted(edits, key=lambda each: each.startswith(f"{SHIFT}:")))


# Lab: positions shifted, scaled, swapped and taken away; which heads notice, and how.

TITLE = "The lab follows"
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


def laboratory(pane: Pane) -> None:
    """Draw the changes; then all heads, and one of them as a curve and as the parts of a score."""
    if not is_written(pane, TITLE):
        return
    place = st.empty()
    plain = whole(replace(pane.answer.request, edits=()), place, "lab")
    if plain is None:
        return
    _choose_changes(pane, replace(pane, result=plain))
    pair = _pair(pane)
    dependence = whole(pair, place)
    if dependence is None:
        return
    pane, exhibits = _declared(pane, pair, dependence)
    heads, one = columns([6, 5.6], wall=[8, 4.5], gap="large")
    with heads:
        _draw_heads(pane, exhibits["position-dependence"].exhibit(dependence), dependence)
    with one:
        _draw_offsets(pane, exhibits["offsets"], dependence)
        below(partial(draw_terms, exhibits.get("score")), pane)  # both are taller than a wall


def _exhibits(pane: Pane) -> Exhibits:
    """All heads, and of one of them a curve and the parts of a score. Raises Refusal."""
    pair = _pair(pane)
    return _declared(pane, pair, finish(pair))[1]


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


def _declared(
    pane: Pane, pair: Pair, dependence: Divergences
) -> tuple[Pane, dict[str, Growth[Any]]]:
    """The pane at the head that changes most of those whose scores can be taken apart, where none
    is chosen, and what it shows.
    """
    values = [
        (value, kind, head)
        for kind, bits in dependence.items()
        if not pane.recording.attentions[kind].is_cross
        for head, value in enumerate(bits[0].nan_to_num().tolist())
    ]
    if values:
        _, kind, head = max(values, key=lambda each: each[0])
        pane = replace(pane, opens_at=Selection(kind, 0, head))
    exhibits: dict[str, Growth[Any]] = {
        "position-dependence": Growth(TITLE, pair, partial(_dependence, pane)),
        "offsets": Growth(TITLE, pair, lambda _: _offsets(pane, pair)),
    }
    return pane, exhibits | terms_exhibits(pane)


def _dependence(pane: Pane, dependence: Divergences) -> Exhibit:
    recording, chosen = pane.recording, astuple(pane.selection)

    def cell(kind: str, layer: int, head: int, bits: float) -> Cell:
        address = link(replace(pane.screen, kind=kind, layer=layer, head=head))
        title = head_name((kind, layer, head), recording)
        return dependence_cell(address, title, bits, (kind, layer, head) == chosen)

    tables = [
        dependence_table(
            kind_title(kind),
            [
                (
                    f"L{recording.attentions[kind].number(layer)}",
                    [cell(kind, layer, head, value) for head, value in enumerate(values)],
                )
                for layer, values in enumerate(bits.tolist())
            ],
        )
        for kind, bits in dependence.items()
    ]
    cause = "the edits in force turn" if pane.answer.request.edits else NO_POSITIONS
    says = (
        f"How far {cause} each head's rows, mean over its queries; both runs read the same output"
    )
    content = dependence_tables(tables, f"{says}.")
    return Exhibit("Position dependence", content, says, pane=pane)


def _offsets(pane: Pane, pair: Pair) -> Exhibit:
    """The curves of a head. Raises NothingLeft where there is nothing to average."""
    kind, layer, head = place = astuple(pane.selection)
    title, runs = head_name(place, pane.recording), pair.recordings()
    try:
        before, after = (by_offset(each.attentions[kind], layer, head) for each in runs)
    except InputError as error:
        raise NothingLeft(str(error)) from None
    curves = before, after, pair.names, title
    says = describe_offset_curves(*curves)
    return Exhibit("Mean weight by offset", chart_offset_curves(*curves), says, pane=pane)


def _draw_heads(pane: Pane, exhibit: Exhibit, dependence: Divergences) -> None:
    st.markdown("**Position dependence**", help=help_of("position_dependence", "jensen_shannon"))
    show(exhibit, "dependence")
    values = [
        (float(bits[layer, head]), head_name((kind, layer, head), pane.recording))
        for kind, bits in dependence.items()
        for layer, head in bits.isfinite().nonzero().tolist()
    ]
    if values:
        (most, where), (least, there) = max(values), min(values)
        text = f"Most: **{literal(where)}**, {most:.2f} bits."
        st.markdown(f"{text} Least: **{literal(there)}**, {least:.2f} bits.")
    file, help = "headscope-position-dependence.csv", "One row per head, in bits"
    offer_figures(pane, {"position-dependence": exhibit})
    rows = partial(divergence_rows, dependence)
    offer_file("Heads as CSV", lambda: rows_csv(rows()), file, help, exhibit.title)


def _draw_offsets(pane: Pane, growth: Growth[Divergences], dependence: Divergences) -> None:
    try:
        exhibit = growth.exhibit(dependence)
    except NothingLeft as reason:
        st.caption(literal(str(reason)))
        return
    chosen = pane.selection
    to = replace(
        pane.screen, page=FIRST_PAGE, kind=chosen.kind, layer=chosen.layer, head=chosen.head
    )
    show_with_files(pane, exhibit, "offsets")
    address = html.escape(link(to))
    st.html(f'<a data-state href="{address}">Open on Explore</a>', width="content")


LAB = Part("Lab", _exhibits, offer_edit, draw=laboratory)
