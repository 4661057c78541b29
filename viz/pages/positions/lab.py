"""Lab: positions shifted, scaled, swapped and taken away; which heads notice, and how."""

import html
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from torch import Tensor

from transformer import InputError, Recording
from transformer.analysis.proofs import by_offset, divergences, no_positions
from transformer.analysis.reading import Selection
from transformer.checkpoint import Checkpoint
from transformer.editing.checking import side_read
from transformer.edits import Edit, parse
from transformer.refusal import Refusal, visible
from transformer.token import Token
from viz.app_packages import st
from viz.exhibits.exhibit import Exhibit
from viz.exhibits.table import Cell, Table
from viz.export import rows_csv
from viz.figures.positions import (
    chart_offset_curves,
    dependence_cell,
    dependence_table,
    dependence_tables,
    describe_offset_curves,
)
from viz.labels import in_words, kind_title, literal
from viz.pages.positions.terms import terms, terms_exhibits
from viz.run.line import Runner
from viz.run.request import Request, answer
from viz.run.work import Study, finish
from viz.screen import FIRST_PAGE, link
from viz.state.changing import edit
from viz.state.page import Exhibits, Pane
from viz.state.state import bound_entry, note, session, widget
from viz.ui.controls import draw_control, help_of
from viz.ui.progress import is_written, whole
from viz.ui.saving import download, for_a_paper
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


def choose_changes(pane: Pane, plain: Pane) -> None:
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
    shift, scale = (_value(name, side) for name in (SHIFT, SCALE))
    now = int(shift or 0)
    least, most = min(0, now), max(_room(recording, side), now)
    if most > least:
        callback = widget(f"shift {side}", now, lambda new: _put(SHIFT, side, new, usual=0))
        st.slider("Shift by this many positions", least, most, now, **look, **callback)
    else:
        st.caption("The table of positions ends with this text: there is no room for a shift.")
    factor = 1.0 if scale is None else scale
    callback = widget(f"scale {side}", factor, lambda new: _put(SCALE, side, new, usual=1))
    least_factor, most_factor = min(0.0, factor), max(MOST_SCALE, factor)
    st.slider("Encodings times", least_factor, most_factor, factor, 0.1, **look, **callback)
    _toggle("No positions", [Edit(ZERO, side)])


def _room(recording: Recording, side: str) -> int:
    """Return how far words may be moved: to the end of the table, where there is one."""
    added = recording.positions.get(side)
    return MOST_SHIFT if added is None else min(MOST_SHIFT, len(added.table) - len(added.tokens))


def _toggle(title: str, edits: list[Edit]) -> None:
    spelled = [str(each) for each in edits]
    is_on = set(spelled) <= set(session().screen.edits)

    def turn(new: bool) -> None:
        others = [each for each in session().screen.edits if each not in spelled]
        _have([*others, *spelled] if new else others)

    st.toggle(title, is_on, **widget(f"{title} {spelled[0]}", is_on, turn))


def _swaps(pane: Pane, side: str, has_positions: bool) -> None:
    tokens = _tokens(pane.recording, pane.checkpoint, side)
    usual = [i for i, token in enumerate(tokens) if _is_word(token)] or [0]
    i = _word("Swap", "swap", tokens, usual[0])
    j = _word("with", "with", tokens, usual[-1])
    values = (float(i), float(j))
    st.button(
        "Swap words",
        help="Each is read in the place of the other",
        disabled=i == j or side != side_read(pane.checkpoint),
        on_click=_add,
        args=(Edit(WORDS, side, (), values),),
    )
    st.button(
        "Swap positions",
        help="Each is read in its own place, as if it stood in the other's",
        disabled=i == j or not has_positions,
        on_click=_add,
        args=(Edit(SWAP, side, (), values),),
    )


def _tokens(recording: Recording, checkpoint: Checkpoint, side: str) -> tuple[Token, ...]:
    """The words of a side: those that are read, as they stand after swaps; else as written."""
    if side == side_read(checkpoint):
        return recording.source
    return recording.positions[side].tokens


def _is_word(token: Token) -> bool:
    return not token.special and any(map(str.isalnum, token.piece))


def _word(title: str, name: str, tokens: tuple[Token, ...], usual: int) -> int:
    text = dict(session().screen.controls).get(name, "")
    chosen = int(text) if text.isdecimal() and len(text) < 9 else usual
    chosen = chosen if chosen < len(tokens) else usual
    names = {str(i): f"{i} {word}" for i, word in enumerate(in_words(tokens))}
    look: Any = {"format_func": lambda i: visible(names[i]), "width": 140}
    look |= bound_entry("controls", name, str(chosen), str(usual))
    st.selectbox(title, names, chosen, **look)
    return chosen


def _value(name: str, side: str) -> float | None:
    """Return the number of an edit that is in force."""
    parsed = (parse(each) for each in session().screen.edits)
    return next((it.values[0] for it in parsed if (it.name, it.place) == (name, side)), None)


def _put(name: str, side: str, value: float, usual: float) -> None:
    """Have this value in force, in the place of another one."""
    now = session().screen.edits
    others = [each for each in now if not each.startswith(f"{name}:{side}=")]
    made = str(Edit(name, side, (), (float(value),)))
    _have(others if value == usual else [*others, made])


def _add(made: Edit) -> None:
    _have([*session().screen.edits, str(made)])


def _have(edits: list[str]) -> None:
    """A swap names positions as they are before a shift."""
    edit(sorted(edits, key=lambda each: each.startswith(f"{SHIFT}:")))


# Lab: positions shifted, scaled, swapped and taken away; which heads notice, and how.

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
        chart_offset_curves(before, after, pair.names, title),
        describe_offset_curves(before, after, pair.names, title),
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
