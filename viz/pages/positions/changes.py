"""Changes of positions, as sliders and buttons: edits as the address spells them."""

from typing import Any

from transformer import Recording
from transformer.checkpoint import Checkpoint
from transformer.editing.read_words import side_read
from transformer.edits import Edit, parse
from transformer.token import Token
from transformer.visible import visible
from viz.app_packages import st
from viz.labels import in_words
from viz.state.changing import edit
from viz.state.page import Pane
from viz.state.state import bound_entry, session, widget
from viz.ui.controls import draw_control
from viz.views.view import SideChoice

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
