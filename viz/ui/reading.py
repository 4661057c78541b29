"""How attention is read: the lens, and what rows and columns stand for."""

from dataclasses import replace
from typing import Any

import streamlit as st

from transformer.analysis.reading import Reading, lenses, writes
from transformer.words import RULE
from viz.screen import Screen
from viz.ui.controls import choose_one
from viz.ui.page import Pane

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
        look: Any = {"help": ROWS_EXPLAINED, "label_visibility": "collapsed"}
        choose_one("Rows", "rows", ROWS, pane.screen.rows, **look)


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
        _choose_lens(screen)
        choose_one("Tokens as", "words", WORDS, screen.words, help=RULE)
        explain = SPECIAL_EXPLAINED
        choose_one("Special tokens", "special", SPECIAL, screen.special, help=explain)


def _choose_lens(screen: Screen) -> None:
    found = lenses()
    titles = {name: each.title for name, each in found.items()}
    lens = found[choose_one("Lens", "lens", titles, screen.lens, as_list=True)]
    st.code(lens.formula, language=None)
    st.caption(lens.explain)


def usable_reading(pane: Pane) -> Reading:
    """The chosen reading; the plain weights, with a sentence why, where the lens refuses."""
    reading = chosen_reading(pane.screen)
    refusal = lenses()[reading.lens].why_not(pane.recording, pane.selection.kind)
    if refusal is None:
        return reading
    st.info(f"{refusal} Shown: the weights.", icon=":material/info:")
    return replace(reading, lens="weight")


def chosen_reading(screen: Screen) -> Reading:
    """The reading that the Screen says; the plain weights for a lens that does not exist."""
    rows: Any = screen.rows
    special: Any = screen.special
    lens = screen.lens if screen.lens in lenses() else "weight"
    return Reading(lens=lens, rows=rows, words=screen.words, special=special)
