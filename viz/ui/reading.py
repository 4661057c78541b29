"""How attention is read: the lens, and what rows and columns stand for."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal

import streamlit as st

from transformer.analysis.reading import Reading, lenses, writes
from transformer.words import RULE
from viz.screen import Screen
from viz.ui.page import Pane
from viz.ui.state import bound

ROWS = {"produced": "producing", "read": "reading"}
ROWS_EXPLAINED = (
    "A row of cross-attention is one step of the decoder, which has just read one token and is "
    "about to produce the next. *producing* names the row by the token that the step wrote: while "
    "producing this token, it looked there. *reading* names it by the one it had just read. The "
    "weights are the same, the names are off by one: alignments are read off *producing*."
)
WORDS = {False: "pieces", True: "words"}
SPECIAL = {"shown": "shown", "hidden": "hidden", "renormalised": "renormalised"}
SPECIAL_EXPLAINED = (
    "Tokens such as `</s>` often collect attention that has no better place to go. *hidden* leaves "
    "their rows and columns out, so that rows sum to less than 1; *renormalised* also divides each "
    "row by what remains of it."
)


def choose_rows(pane: Pane) -> None:
    """The switch that names the rows of cross-attention; drawn where it changes something."""
    if writes(pane.selection.attention(pane.recording)):
        _choose("rows", "Rows", ROWS, pane.screen.rows, ROWS_EXPLAINED, "collapsed")


def choose_reading(screen: Screen) -> None:
    """Lens, words and special tokens, behind one button; every picture says what is chosen."""
    box = st.popover(
        "Reading",  # always: under another name it would be another one, and closed
        icon=":material/visibility:",
        help="Through which lens, and which rows and columns",
        key="reading",
        on_change="rerun",
    )
    if not box.open:  # its contents are no burden while nobody looks at them
        return
    with box:
        _choose_lens(_lens(screen))
        _choose("words", "Tokens as", WORDS, screen.words, RULE)
        _choose("special", "Special tokens", SPECIAL, screen.special, SPECIAL_EXPLAINED)


def _choose_lens(name: str) -> None:
    found = lenses()
    names = list(found)
    st.selectbox("Lens", names, format_func=lambda name: found[name].title, **bound("lens", name))
    st.code(found[name].formula, language=None)
    st.caption(found[name].explain)


def _choose(
    name: str,
    title: str,
    options: Mapping[Any, str],
    chosen: object,
    explain: str,
    label: Literal["visible", "collapsed"] = "visible",
) -> None:
    """A switch between named values."""
    st.segmented_control(
        title,
        list(options),
        format_func=options.__getitem__,
        required=True,
        help=explain,
        label_visibility=label,
        **bound(name, chosen),
    )


def usable_reading(pane: Pane) -> Reading:
    """What is chosen; through the plain weights, in a sentence, where the lens refuses."""
    reading = chosen_reading(pane.screen)
    refusal = lenses()[reading.lens].why_not(pane.recording, pane.selection.kind)
    if refusal is None:
        return reading
    st.info(f"{refusal} Shown: the weights.", icon=":material/info:")
    return replace(reading, lens="weight")


def chosen_reading(screen: Screen) -> Reading:
    """What is chosen."""
    rows: Any = screen.rows
    special: Any = screen.special
    return Reading(lens=_lens(screen), rows=rows, words=screen.words, special=special)


def _lens(screen: Screen) -> str:
    return screen.lens if screen.lens in lenses() else "weight"
